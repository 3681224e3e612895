// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/frame.hpp"
#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/utf8.hpp"
#include "wire/worker_messages.hpp"
#include <skep/error.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;
namespace json = boost::json;

namespace {

constexpr std::size_t mib = 1u << 20;
constexpr json_limits wide{32, 512 * mib};
constexpr auto max_id = std::numeric_limits<std::uint64_t>::max();

worker_message decode(std::string_view text, std::string_view payload = {}) {
    worker_message_decoder decoder(wide);
    return decoder.decode({text, std::as_bytes(std::span(payload))});
}

template <class Message>
Message decode_as(std::string_view text, std::string_view payload = {}) {
    auto message = decode(text, payload);
    BOOST_REQUIRE(std::holds_alternative<Message>(message));
    return std::get<Message>(std::move(message));
}

std::string complaint(std::string_view text, std::string_view payload = {}) {
    try {
        decode(text, payload);
    } catch (const protocol_violation& violation) {
        return violation.what();
    }
    return {};
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

blob to_blob(std::string_view bytes) {
    const auto view = std::as_bytes(std::span(bytes));
    return {view.begin(), view.end()};
}

std::string to_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One good message of each kind, and the members it cannot do without.
struct sample {
    std::string name;
    json::object message;
    std::vector<std::string> numbers;
    std::vector<std::string> texts;
};

const std::vector<sample>& samples() {
    static const std::vector<sample> all{
        {"hello",
         {{"type", "hello"},
          {"protocol", 1},
          {"token", "abc"},
          {"pid", 4711},
          {"sdk", "python 0.1"},
          {"capacity", 2},
          {"control", true},
          {"commands", {"echo", "add"}}},
         {"protocol", "pid"},
         {"token"}},
        {"ready", {{"type", "ready"}}, {}, {}},
        {"result", {{"type", "result"}, {"id", 7}, {"value", {1, 2, 3}}}, {"id"}, {}},
        {"error",
         {{"type", "error"},
          {"id", 7},
          {"error", {{"type", "ValueError"}, {"message", "no"}, {"traceback", "line 1"}}}},
         {"id"},
         {}},
        {"pong",
         {{"type", "pong"}, {"seq", 3}, {"in_flight", 1}, {"completed", 99}},
         {"seq", "in_flight", "completed"},
         {}}};
    return all;
}

std::string with(const json::object& message, std::string_view key, json::value value) {
    auto changed = message;
    changed.insert_or_assign(key, std::move(value));
    return json::serialize(changed);
}

std::string without(const json::object& message, std::string_view key) {
    auto changed = message;
    changed.erase(key);
    return json::serialize(changed);
}

struct sent_frame {
    json::object message;
    std::string payload;
};

// Takes an output buffer apart again: it must hold exactly one frame, with well-formed JSON.
sent_frame take_apart(std::string_view bytes) {
    frame_decoder decoder(frame_limits{1u << 30, 1u << 30});
    while (!bytes.empty()) {
        const auto room = decoder.prepare();
        const auto count = std::min(room.size(), bytes.size());
        std::memcpy(room.data(), bytes.data(), count);
        decoder.commit(count);
        bytes.remove_prefix(count);
        if (!bytes.empty()) {
            BOOST_REQUIRE(!decoder.next());
        }
    }
    const auto frame = decoder.next();
    BOOST_REQUIRE(frame.has_value());
    BOOST_TEST(decoder.at_boundary());
    BOOST_TEST(is_utf8(frame->json));
    return {json::parse(frame->json).as_object(), to_text(frame->payload)};
}

sent_frame encode_call(const request& call, std::optional<duration> time_left = {}, std::uint64_t id = 1) {
    host_message_encoder encoder(64 * mib);
    std::string out;
    encoder.call(out, id, call, time_left);
    return take_apart(out);
}

template <class Value>
concept argument_value = requires(request call, Value value) {
    call.arg("key", value);
};

errc refusal(host_message_encoder& encoder, const request& call, std::string& out) {
    try {
        encoder.call(out, 1, call, 1s);
    } catch (const error& failure) {
        BOOST_TEST(!failure.info.detail.empty());
        return static_cast<errc>(failure.code().value());
    }
    BOOST_ERROR("the call was encoded");
    return {};
}

} // namespace

BOOST_AUTO_TEST_SUITE(messages_test)

BOOST_AUTO_TEST_CASE(hello) {
    const auto hello = decode_as<hello_message>(json::serialize(samples()[0].message));
    BOOST_TEST(hello.protocol == 1);
    BOOST_TEST(hello.token == "abc");
    BOOST_TEST(hello.pid == 4711);
    BOOST_TEST(hello.sdk == "python 0.1");
    BOOST_TEST(hello.capacity == 2u);
    BOOST_TEST(hello.commands == (std::vector<std::string>{"echo", "add"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(hello_with_the_least_it_must_say) {
    const auto hello = decode_as<hello_message>(R"({"type":"hello","protocol":1,"token":"","pid":1})");
    BOOST_TEST(hello.token.empty());
    BOOST_TEST(hello.sdk.empty());
    BOOST_TEST(hello.capacity == 1u);
    BOOST_TEST(hello.commands.empty());
}

BOOST_AUTO_TEST_CASE(hello_with_odd_optional_members) {
    const auto& hello = samples()[0].message;
    BOOST_TEST(contains(complaint(with(hello, "capacity", 0)), "capacity"));
    for (const auto& bad : {json::value(-1), json::value("1"), json::value(1.5), json::value(nullptr)}) {
        BOOST_TEST(contains(complaint(with(hello, "capacity", bad)), "capacity"));
    }
    BOOST_TEST(contains(complaint(with(hello, "sdk", 1)), "sdk"));
    for (const auto& bad : {json::value("echo"), json::value(json::object()), json::value(json::array{1}),
                            json::value(json::array{"echo", nullptr})}) {
        BOOST_TEST(contains(complaint(with(hello, "commands", bad)), "commands"));
    }
    BOOST_TEST(decode_as<hello_message>(with(hello, "commands", json::array())).commands.empty());
}

BOOST_AUTO_TEST_CASE(a_pid_beyond_its_type_does_not_become_another_number) {
    for (const std::uint64_t pid : {std::uint64_t(1) << 63, max_id}) {
        const auto text = with(samples()[0].message, "pid", pid);
        BOOST_TEST((!complaint(text).empty() || decode_as<hello_message>(text).pid >= 0), "pid " << pid);
    }
}

BOOST_AUTO_TEST_CASE(ready) {
    decode_as<ready_message>(R"({"type":"ready"})");
}

BOOST_AUTO_TEST_CASE(result) {
    const auto result =
        decode_as<result_message>(R"({"type":"result","id":18446744073709551615,"value":[1,{"a":2}]})");
    BOOST_TEST(result.id == max_id);
    BOOST_TEST(json::serialize(result.value) == R"([1,{"a":2}])");
    BOOST_TEST(result.attachments.empty());
    BOOST_TEST(decode_as<result_message>(R"({"value":null,"id":0,"type":"result"})").value.is_null());
    BOOST_TEST(contains(complaint(R"({"type":"result","id":1})"), "value"));
}

BOOST_AUTO_TEST_CASE(remote_error) {
    const auto failure = decode_as<error_message>(json::serialize(samples()[3].message));
    BOOST_TEST(failure.id == 7u);
    BOOST_TEST(failure.type == "ValueError");
    BOOST_TEST(failure.message == "no");
    BOOST_TEST(failure.traceback == "line 1");
    const auto bare = decode_as<error_message>(R"({"type":"error","id":1,"error":{"type":"E","more":[]}})");
    BOOST_TEST(bare.message.empty());
    BOOST_TEST(bare.traceback.empty());
}

BOOST_DATA_TEST_CASE(an_error_body_must_name_a_type,
                     data::make({"null", "1", R"("E")", "[]", "{}", R"({"type":""})", R"({"type":1})",
                                 R"({"message":"x"})", R"({"type":"E","message":1})",
                                 R"({"type":"E","traceback":[]})", R"({"type":null})"}),
                     body) {
    BOOST_TEST(contains(complaint(R"({"type":"error","id":1,"error":)" + std::string(body) + "}"), "'"));
}

BOOST_AUTO_TEST_CASE(an_error_without_a_body) {
    BOOST_TEST(contains(complaint(R"({"type":"error","id":1})"), "'error'"));
}

BOOST_AUTO_TEST_CASE(pong) {
    const auto pong = decode_as<pong_message>(json::serialize(samples()[4].message));
    BOOST_TEST(pong.sequence == 3u);
    BOOST_TEST(pong.in_flight == 1u);
    BOOST_TEST(pong.completed == 99u);
}

BOOST_AUTO_TEST_CASE(every_required_number_is_checked) {
    for (const auto& sample : samples()) {
        for (const auto& key : sample.numbers) {
            BOOST_TEST_CONTEXT(key << " of " << sample.name) {
                BOOST_TEST(contains(complaint(without(sample.message, key)), "'" + key + "'"));
                for (const auto& bad :
                     {json::value(-1), json::value(std::numeric_limits<std::int64_t>::min()),
                      json::value(1.5), json::value("1"), json::value(true), json::value(nullptr),
                      json::value(json::array{1}), json::value(json::object()),
                      json::value(1.8446744073709552e19), json::value(-1e300)}) {
                    BOOST_TEST(contains(complaint(with(sample.message, key, bad)), "'" + key + "'"),
                               json::serialize(bad));
                }
                for (const auto* const literal :
                     {"18446744073709551616", "99999999999999999999999999", "1e30"}) {
                    auto text = with(sample.message, key, "@");
                    text.replace(text.find("\"@\""), 3, literal);
                    BOOST_TEST(contains(complaint(text), "'" + key + "'"), literal);
                }
                BOOST_TEST(complaint(with(sample.message, key, 0)).empty());
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(every_required_text_is_checked) {
    for (const auto& sample : samples()) {
        auto keys = sample.texts;
        keys.emplace_back("type");
        for (const auto& key : keys) {
            BOOST_TEST_CONTEXT(key << " of " << sample.name) {
                BOOST_TEST(contains(complaint(without(sample.message, key)), "'" + key + "'"));
                for (const auto& bad : {json::value(1), json::value(nullptr), json::value(json::array{"abc"}),
                                        json::value(json::object()), json::value(false)}) {
                    BOOST_TEST(contains(complaint(with(sample.message, key, bad)), "'" + key + "'"));
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(unknown_members_are_ignored) {
    for (const auto& sample : samples()) {
        for (const auto& value :
             {json::value(nullptr), json::value(-1), json::value(json::object{{"type", 1}})}) {
            BOOST_TEST(complaint(with(sample.message, "from a later revision", value)).empty(), sample.name);
        }
    }
}

BOOST_DATA_TEST_CASE(messages_that_a_worker_may_not_send_are_refused,
                     data::make({"welcome", "call", "cancel", "credit", "ping", "tool_result", "tool_error",
                                 "shutdown", "", "Ready", "ready ", "RESULT", "nonsense"}),
                     type) {
    const auto text = json::serialize(json::object{
        {"type", type}, {"id", 1}, {"seq", 1}, {"command", "echo"}, {"args", json::object()}, {"value", 1}});
    BOOST_TEST(!complaint(text).empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_object_is_no_message) {
    for (const auto* const text : {"", "[]", "1", "null", R"("ready")", "{}", R"({"type":"ready"} x)",
                                   R"({"type":"ready","type":"ready"})"}) {
        BOOST_TEST(!complaint(text).empty(), text);
    }
}

BOOST_AUTO_TEST_CASE(attachments_are_cut_from_the_payload_in_order) {
    const auto result = decode_as<result_message>(
        R"({"type":"result","id":1,"value":null,"attachments":[3,0,5]})", std::string_view("abc\0efgh", 8));
    BOOST_REQUIRE(result.attachments.size() == 3u);
    BOOST_TEST(to_text(result.attachments[0]) == "abc");
    BOOST_TEST(result.attachments[1].empty());
    BOOST_TEST(to_text(result.attachments[2]) == std::string("\0efgh", 5));
    BOOST_TEST(decode_as<result_message>(R"({"type":"result","id":1,"value":1,"attachments":[]})")
                   .attachments.empty());
}

BOOST_DATA_TEST_CASE(attachments_that_do_not_add_up_are_refused,
                     data::make({"[]",
                                 "[7]",
                                 "[9]",
                                 "[8,1]",
                                 "[4,5]",
                                 "[4,3]",
                                 "[18446744073709551615]",
                                 "[18446744073709551615,9]",
                                 "[9223372036854775808]",
                                 "[-1,9]",
                                 "[8.5]",
                                 R"(["8"])",
                                 "[null]",
                                 "[[8]]",
                                 "8",
                                 "null",
                                 R"("8")",
                                 R"({"0":8})",
                                 "[true,7]",
                                 "[1e30]"}),
                     lengths) {
    const auto text = R"({"type":"result","id":1,"value":null,"attachments":)" + std::string(lengths) + "}";
    BOOST_TEST(contains(complaint(text, "12345678"), "'attachments'"));
}

BOOST_AUTO_TEST_CASE(a_payload_needs_attachments_and_the_other_way_round) {
    BOOST_TEST(contains(complaint(R"({"type":"result","id":1,"value":null})", "x"), "'attachments'"));
    BOOST_TEST(
        contains(complaint(R"({"type":"result","id":1,"value":null,"attachments":[1]})"), "'attachments'"));
}

BOOST_AUTO_TEST_CASE(only_a_result_may_have_attachments) {
    for (const auto& sample : samples()) {
        const auto text = with(sample.message, "attachments", json::array{2, 1});
        BOOST_TEST(complaint(text, "abc").empty() == (sample.name == "result"), sample.name);
    }
}

BOOST_AUTO_TEST_CASE(a_complaint_is_short_whatever_the_worker_sends) {
    const std::string huge(mib, 'x');
    const auto quoted = "\"" + huge + "\"";
    for (const auto& text : {R"({"type":)" + quoted + "}", R"({"type":)" + quoted + R"(,"attachments":1})",
                             R"({"type":)" + quoted + R"(,"attachments":[1]})",
                             R"({"type":"result","id":)" + quoted + R"(,"value":1})",
                             R"({"type":"error","id":1,"error":)" + quoted + "}",
                             R"({"type":"hello","protocol":)" + quoted + "}"}) {
        const auto problem = complaint(text);
        BOOST_REQUIRE(!problem.empty());
        BOOST_TEST(problem.size() < 300u, text.substr(0, 40) << " ...");
    }
    for (std::size_t before = 24; before < 40; ++before) {
        BOOST_TEST(is_utf8(complaint(R"({"type":")" + std::string(before, 'a') + "\xF0\x9F\x98\x80\"}")),
                   before);
    }
}

BOOST_AUTO_TEST_CASE(a_decoder_goes_on_after_a_refusal) {
    worker_message_decoder decoder(wide);
    for (const std::string_view bad : {"{", R"({"type":"call"})", R"({"type":"result"})"}) {
        BOOST_CHECK_THROW(decoder.decode({bad, {}}), protocol_violation);
        BOOST_TEST(std::holds_alternative<ready_message>(decoder.decode({R"({"type":"ready"})", {}})));
    }
}

BOOST_AUTO_TEST_CASE(a_request_takes_json_objects_only) {
    for (const auto& bad :
         {json::value(), json::value(1), json::value("x"), json::value(json::array{1, 2})}) {
        BOOST_CHECK_THROW(request("f", bad), std::invalid_argument);
    }
    BOOST_TEST((request("f", {{"a", 1}}).arg("a", 2).arg("b", 3).args() == json::object{{"a", 2}, {"b", 3}}));
}

BOOST_AUTO_TEST_CASE(a_request_takes_the_everyday_types_as_arguments) {
    BOOST_TEST(argument_value<int>);
    BOOST_TEST(argument_value<double>);
    BOOST_TEST(argument_value<bool>);
    BOOST_TEST(argument_value<const char*>);
    BOOST_TEST(argument_value<json::array>);
    BOOST_TEST(argument_value<std::string_view>);
    BOOST_TEST(argument_value<std::string>); // the example of the design: .arg("text", text)
}

BOOST_AUTO_TEST_CASE(every_setter_works_on_a_named_request_and_in_a_chain) {
    const auto moment = time_point(5s);
    request named("f");
    named.session("s").timeout(1s).deadline(moment).queue_timeout(2s).idempotent(true).correlation_id("c");
    named.metadata("m", 1).attach(to_blob("x")).arg("a", 1);
    const auto chained = request("f")
                             .session("s")
                             .timeout(1s)
                             .deadline(moment)
                             .queue_timeout(2s)
                             .idempotent(true)
                             .correlation_id("c")
                             .metadata("m", 1)
                             .attach(to_blob("x"))
                             .arg("a", 1);
    for (const auto* const call : std::initializer_list<const request*>{&named, &chained}) {
        BOOST_TEST(call->command() == "f");
        BOOST_TEST(call->session() == "s");
        BOOST_TEST((call->timeout() == 1s));
        BOOST_TEST((call->deadline() == moment));
        BOOST_TEST((call->queue_timeout() == 2s));
        BOOST_TEST(call->idempotent());
        BOOST_TEST(call->correlation_id() == "c");
        BOOST_TEST((call->metadata() == json::object{{"m", 1}}));
        BOOST_TEST((call->args() == json::object{{"a", 1}}));
        BOOST_TEST(call->attachments().size() == 1u);
    }
    const request bare("f");
    BOOST_TEST((!bare.timeout() && !bare.deadline() && !bare.queue_timeout() && !bare.idempotent()));
    BOOST_TEST(bare.args().as_object().empty());
}

BOOST_AUTO_TEST_CASE(welcome_says_everything) {
    heartbeat_options heartbeat;
    heartbeat.interval = 1500ms;
    heartbeat.timeout = 7s;
    host_message_encoder encoder(123456);
    std::string out;
    encoder.welcome(out, worker_id{"blue \"pool\"", 3, 17}, heartbeat);
    const auto frame = take_apart(out);
    const json::object expected{
        {"type", "welcome"},
        {"worker", "blue \"pool\"/3#17"},
        {"pool", "blue \"pool\""},
        {"heartbeat", {{"enabled", true}, {"interval_ms", 1500}, {"timeout_ms", 7000}}},
        {"limits", {{"frame_bytes", 123456}}}};
    BOOST_TEST((frame.message == expected), json::serialize(frame.message));
    BOOST_TEST(frame.payload.empty());
    heartbeat.enabled = false;
    out.clear();
    encoder.welcome(out, worker_id{"p", 0, 1}, heartbeat);
    BOOST_TEST(!take_apart(out).message.at("heartbeat").at("enabled").as_bool());
}

BOOST_AUTO_TEST_CASE(the_least_a_call_says) {
    const auto frame = encode_call(request("echo"), {}, max_id);
    const json::object expected{
        {"type", "call"}, {"id", max_id}, {"command", "echo"}, {"args", json::object()}};
    BOOST_TEST((frame.message == expected), json::serialize(frame.message));
    BOOST_TEST(frame.payload.empty());
}

BOOST_AUTO_TEST_CASE(the_most_a_call_says) {
    request call("predict");
    call.arg("text", "h\xC3\xA4llo")
        .arg("n", {1, 2.5, nullptr, true})
        .session("user-42")
        .correlation_id("c-1");
    call.metadata("tenant", "blue").metadata("try", 2);
    call.attach(to_blob("abc")).attach({}).attach(to_blob(std::string_view("\0\xFF", 2)));
    const auto frame = encode_call(call, 2500ms, 12);
    const json::object expected{{"type", "call"},
                                {"id", 12},
                                {"command", "predict"},
                                {"deadline_ms", 2500},
                                {"session", "user-42"},
                                {"correlation_id", "c-1"},
                                {"metadata", {{"tenant", "blue"}, {"try", 2}}},
                                {"attachments", {3, 0, 2}},
                                {"args", {{"text", "h\xC3\xA4llo"}, {"n", {1, 2.5, nullptr, true}}}}};
    BOOST_TEST((frame.message == expected), json::serialize(frame.message));
    BOOST_TEST((frame.payload == std::string("abc\0\xFF", 5)));
}

BOOST_AUTO_TEST_CASE(a_deadline_that_has_passed_is_none_of_the_workers_time) {
    BOOST_TEST(encode_call(request("f"), 0s).message.at("deadline_ms").to_number<int>() == 0);
    BOOST_TEST(encode_call(request("f"), -5s).message.at("deadline_ms").to_number<int>() == 0);
    BOOST_TEST(encode_call(request("f"), 999us).message.at("deadline_ms").to_number<int>() == 0);
    BOOST_TEST(encode_call(request("f"), 24h).message.at("deadline_ms").to_number<int>() == 86'400'000);
}

BOOST_DATA_TEST_CASE(ids_are_escaped,
                     data::make({"\"", "\\", "\"},{\"type\":\"shutdown\"", "\n\r\t\b\f", "\x01\x1F\x7F",
                                 "</script>", "\xE2\x80\xA8", "\xF0\x9F\x98\x80", " ", "'"}),
                     text) {
    request call{text};
    call.session(text).correlation_id(text).arg(text, text).metadata(text, text);
    const auto frame = encode_call(call);
    for (const auto* const key : {"command", "session", "correlation_id"}) {
        BOOST_TEST(frame.message.at(key).as_string() == text);
    }
    BOOST_TEST(frame.message.at("args").at(text).as_string() == text);
    BOOST_TEST(frame.message.at("metadata").at(text).as_string() == text);
    BOOST_TEST(frame.message.size() == 7u);
}

BOOST_AUTO_TEST_CASE(nul_in_ids_is_escaped) {
    const std::string text("a\0b", 3);
    const auto frame = encode_call(request(text).session(text).correlation_id(text));
    for (const auto* const key : {"command", "session", "correlation_id"}) {
        BOOST_TEST((frame.message.at(key).as_string() == text));
    }
}

BOOST_AUTO_TEST_CASE(texts_longer_than_any_buffer) {
    for (const std::size_t size : {4093u, 4094u, 4095u, 4096u, 4097u, 100'000u}) {
        const auto text = std::string(size, 'a') + "\"\xC3\xA4";
        const auto frame = encode_call(request(text).arg("a", json::array{text, text}));
        BOOST_TEST((frame.message.at("command").as_string() == text), size);
        BOOST_TEST((frame.message.at("args").at("a").at(1).as_string() == text), size);
    }
}

BOOST_AUTO_TEST_CASE(numbers_survive_the_journey) {
    const json::object args{{"max", max_id},
                            {"min", std::numeric_limits<std::int64_t>::min()},
                            {"tenth", 0.1},
                            {"tiny", 5e-324},
                            {"huge", 1.7976931348623157e308},
                            {"whole", 1.0}};
    const auto frame = encode_call(request("f", args));
    const auto& sent = frame.message.at("args").as_object();
    for (const auto& [key, value] : args) {
        const bool same =
            value.is_double() ? sent.at(key).to_number<double>() == value.as_double() : sent.at(key) == value;
        BOOST_TEST(same, std::string_view(key));
    }
}

// JSON knows no such numbers: sent as they are, they would end the worker and with it the calls of others.
BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_refused_or_sent_as_json) {
    for (const double number :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
        host_message_encoder encoder(64 * mib);
        std::string out;
        try {
            encoder.call(out, 1, request("f").arg("x", number), {});
        } catch (const error& failure) {
            BOOST_TEST((failure.code() == errc::invalid_request));
            BOOST_TEST(out.empty());
            continue;
        }
        json::error_code ec;
        json::parse(out.substr(frame_header_size), ec);
        BOOST_TEST(!ec, out.substr(frame_header_size));
    }
}

BOOST_AUTO_TEST_CASE(control_messages) {
    host_message_encoder encoder(64 * mib);
    std::string out;
    encoder.cancel(out, max_id);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "cancel"}, {"id", max_id}}));
    out.clear();
    encoder.ping(out, 5);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "ping"}, {"seq", 5}}));
    out.clear();
    encoder.shutdown(out, 1500ms);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "shutdown"}, {"grace_ms", 1500}}));
    out.clear();
    encoder.shutdown(out, -1s);
    BOOST_TEST(take_apart(out).message.at("grace_ms").to_number<int>() == 0);
}

BOOST_AUTO_TEST_CASE(messages_are_appended) {
    host_message_encoder encoder(64 * mib);
    std::string out;
    std::string expected;
    const auto keep = [&](auto&& encode) {
        const auto before = out.size();
        encode(out);
        std::string alone;
        encode(alone);
        BOOST_TEST(out.substr(before) == alone);
        expected += alone;
    };
    keep([&](std::string& to) { encoder.call(to, 1, request("a").attach(to_blob("xyz")), {}); });
    keep([&](std::string& to) { encoder.ping(to, 1); });
    keep([&](std::string& to) { encoder.call(to, 2, request("b").session("s"), 1s); });
    keep([&](std::string& to) { encoder.cancel(to, 2); });
    keep([&](std::string& to) { encoder.shutdown(to, 1s); });
    BOOST_TEST(out == expected);
}

BOOST_AUTO_TEST_CASE(the_frame_limit_is_inclusive_and_leaves_no_trace) {
    const auto call = request("echo").arg("x", json::string(500, 'x')).attach(to_blob("0123456789"));
    std::string whole;
    host_message_encoder(64 * mib).call(whole, 1, call, 1s);
    const auto size = whole.size() - 4;

    std::string out = "before";
    host_message_encoder(size).call(out, 1, call, 1s);
    BOOST_TEST(out == "before" + whole);

    for (const std::size_t limit : {size - 1, size - 10, size / 2, std::size_t(1)}) {
        out = "before";
        host_message_encoder encoder(limit);
        BOOST_TEST((refusal(encoder, call, out) == errc::frame_too_large));
        BOOST_TEST(out == "before");
        encoder.ping(out, 1); // and it goes on
        BOOST_TEST(take_apart(std::string_view(out).substr(6)).message.at("type").as_string() == "ping");
    }
}

BOOST_DATA_TEST_CASE(text_that_is_not_utf8_is_refused_wherever_it_stands,
                     data::make({"\x80", "\xFF", "\xC3", "abc\xED\xA0\x80", "\xF4\x90\x80\x80"}), text) {
    const std::string bad = text;
    const json::value value = text;
    const json::value deep = json::array{1, json::object{{"k", value}}};
    for (const auto& call :
         {request(bad), request("f").session(bad), request("f").correlation_id(bad),
          request("f").arg("x", value), request("f").arg(bad, 1), request("f").arg("x", deep),
          request("f").metadata("x", value), request("f").metadata(bad, 1)}) {
        host_message_encoder encoder(64 * mib);
        std::string out = "before";
        BOOST_TEST((refusal(encoder, call, out) == errc::invalid_request));
        BOOST_TEST(out == "before");
        encoder.call(out, 2, request("f"), {});
        BOOST_TEST(take_apart(std::string_view(out).substr(6)).message.at("id").to_number<int>() == 2);
    }
}

BOOST_AUTO_TEST_CASE(a_refusal_does_not_tell_what_was_in_the_call) {
    host_message_encoder encoder(64 * mib);
    std::string out;
    try {
        encoder.call(out, 1, request("f").arg("password", "s3cret\xFF"), {});
        BOOST_ERROR("the call was encoded");
    } catch (const error& failure) {
        BOOST_TEST(!contains(failure.what(), "s3cret"));
        BOOST_TEST(contains(failure.what(), "UTF-8"));
    }
}

BOOST_AUTO_TEST_SUITE_END()

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/worker_messages.hpp"
#include <skep/error.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

using namespace skep;
using skep::test::contains;
namespace data = boost::unit_test::data;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(worker_messages_test)

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
          {"commands", {"echo", "add"}},
          {"loop", "c"}},
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
         {}},
        {"event",
         {{"type", "event"}, {"name", "model.loaded"}, {"measurements", {{"ms", 1.5}}}, {"dropped", 2}},
         {},
         {"name"}},
        {"log",
         {{"type", "log"}, {"level", "warning"}, {"logger", "model"}, {"text", "no"}},
         {},
         {"level", "text"}}};
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

} // namespace

BOOST_AUTO_TEST_CASE(hello) {
    const auto hello = decode_as<hello_message>(json::serialize(samples()[0].message));
    BOOST_TEST(hello.protocol == 1);
    BOOST_TEST(hello.token == "abc");
    BOOST_TEST(hello.pid == 4711);
    BOOST_TEST(hello.sdk == "python 0.1");
    BOOST_TEST(hello.capacity == 2u);
    BOOST_TEST(hello.loop == "c");
    BOOST_TEST(hello.commands == (std::vector<std::string>{"echo", "add"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(hello_with_the_least_it_must_say) {
    const auto hello = decode_as<hello_message>(R"({"type":"hello","protocol":1,"token":"","pid":1})");
    BOOST_TEST(hello.token.empty());
    BOOST_TEST(hello.sdk.empty());
    BOOST_TEST(hello.loop.empty());
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
    BOOST_TEST(contains(complaint(with(hello, "loop", 1)), "loop"));
    BOOST_TEST(contains(complaint(with(hello, "loop", json::value(std::string(257, 'x')))), "loop"));
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

BOOST_AUTO_TEST_CASE(the_facts_of_a_node) {
    const auto result = decode_as<result_message>(
        R"({"type":"result","id":1,"value":2,"node":{"worker":"blue/3#17","attempts":2,"wait_ms":40,"x":1}})");
    BOOST_REQUIRE(result.from_node);
    BOOST_TEST((result.from_node->worker == worker_id{"blue", 3, 17}));
    BOOST_TEST(result.from_node->attempts == 2);
    BOOST_TEST((result.from_node->wait == std::chrono::milliseconds(40)));
    const auto failure =
        decode_as<error_message>(R"({"type":"error","id":1,"error":{"type":"E"},"node":{"attempts":5}})");
    BOOST_REQUIRE(failure.from_node);
    BOOST_TEST(!failure.from_node->worker);
    BOOST_TEST(failure.from_node->attempts == 5);
    const auto of_worker = decode_as<result_message>(R"({"type":"result","id":1,"value":2,"node":"mine"})");
    BOOST_TEST(!of_worker.from_node);
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

BOOST_AUTO_TEST_CASE(an_event_of_the_workers_own) {
    const auto told = decode_as<event_message>(
        R"({"type":"event","name":"a","measurements":{"ms":1.5,"n":2},"metadata":{"b":null},"correlation_id":"c","dropped":2})");
    BOOST_TEST(told.name == "a");
    BOOST_TEST(told.measurements == (json::object{{"ms", 1.5}, {"n", 2}}));
    BOOST_TEST(told.metadata == (json::object{{"b", nullptr}}));
    BOOST_TEST(told.correlation_id == "c");
    BOOST_TEST(told.dropped == 2u);
    for (const auto* const bad :
         {R"("name":"")", R"("name":"a","measurements":[])", R"("name":"a","measurements":{"b":true})",
          R"("name":"a","metadata":1)", R"("name":"a","dropped":-1)", R"("name":"a","correlation_id":1)"}) {
        BOOST_TEST(!complaint(R"({"type":"event",)" + std::string(bad) + "}").empty(), bad);
    }
    BOOST_TEST(
        contains(complaint(R"({"type":"event","name":")" + std::string(257, 'x') + "\"}"), "too long"));
    const auto long_one =
        R"({"type":"event","name":"a","metadata":{"b":")" + std::string(longest_event, 'x') + "\"}}";
    BOOST_TEST(contains(complaint(long_one), "too long"));
}

BOOST_AUTO_TEST_CASE(a_span) {
    const json::object span{{"trace", "4bf92f3577b34da6a3ce929d0e0e4736"},
                            {"id", "1111111111111111"},
                            {"parent", "00f067aa0ba902b7"},
                            {"outcome", "KeyError"},
                            {"start_us", 1'700'000'000'000'000},
                            {"time_us", 1'500}};
    const json::object event{{"type", "event"}, {"name", "work"}};
    const auto told = decode_as<event_message>(with(event, "span", span));
    BOOST_REQUIRE(told.span);
    BOOST_TEST(told.span->trace_id == "4bf92f3577b34da6a3ce929d0e0e4736");
    BOOST_TEST(told.span->span_id == "1111111111111111");
    BOOST_TEST(told.span->parent_id == "00f067aa0ba902b7");
    BOOST_TEST(told.span->outcome == "KeyError");
    BOOST_TEST(told.span->start.count() == 1'700'000'000'000'000);
    BOOST_TEST(told.span->time.count() == 1'500);
    const auto refused = [&](json::value value) {
        BOOST_CHECK_THROW(decode(with(event, "span", std::move(value))), protocol_violation);
    };
    refused("text");
    refused(nullptr);
    for (const auto* key : {"trace", "id", "parent"}) {
        refused(json::parse(without(span, key)));
        refused(json::parse(with(span, key, "0000000000000000")));
        refused(json::parse(with(span, key, 5)));
    }
    for (const auto* key : {"start_us", "time_us"}) {
        refused(json::parse(without(span, key)));
        refused(json::parse(with(span, key, -1)));
        refused(json::parse(with(span, key, 1.5)));
        refused(json::parse(with(span, key, std::numeric_limits<std::int64_t>::max())));
    }
}

BOOST_AUTO_TEST_CASE(a_tool_call_may_name_the_span_that_it_is_made_in) {
    const json::object asked{
        {"type", "tool_call"}, {"id", 1}, {"tool_call", 1}, {"name", "x"}, {"args", json::object()}};
    BOOST_TEST(decode_as<tool_call_message>(json::serialize(asked)).parent_span == "");
    const auto within = decode_as<tool_call_message>(with(asked, "parent_span", "00f067aa0ba902b7"));
    BOOST_TEST(within.parent_span == "00f067aa0ba902b7");
    for (const auto& value : {json::value("00f0"), json::value("0000000000000000"), json::value(5)}) {
        BOOST_CHECK_THROW(decode(with(asked, "parent_span", value)), protocol_violation);
    }
}

BOOST_AUTO_TEST_CASE(a_log_record) {
    const auto said = decode_as<log_message>(
        R"({"type":"log","level":"error","logger":"m","text":"no","correlation_id":"c"})");
    BOOST_TEST((said.level == log_level::error));
    BOOST_TEST(said.logger == "m");
    BOOST_TEST(said.text == "no");
    BOOST_TEST(said.correlation_id == "c");
    BOOST_TEST(contains(complaint(R"({"type":"log","level":"fatal","text":"no"})"), "'level'"));
    const auto cut = decode_as<log_message>(R"({"type":"log","level":"info","text":")" +
                                            std::string(2 * longest_log_text, 'x') + "\"}");
    BOOST_TEST(cut.text.size() <= longest_log_text + 64);
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
                    const bool named = contains(complaint(text), "'" + key + "'");
                    BOOST_TEST((named || contains(complaint(text), "64 bits")), literal);
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

BOOST_AUTO_TEST_CASE(attachments_share_the_frames_memory_if_they_are_most_of_it) {
    const auto memory = std::make_shared<std::string>(1000, 'x');
    const auto payload = std::as_bytes(std::span(*memory));
    worker_message_decoder decoder(wide);
    auto message =
        decoder.decode({R"({"type":"result","id":1,"value":null,"attachments":[990,10]})", payload, memory});
    const auto& attachments = std::get<result_message>(message).attachments;
    BOOST_REQUIRE(attachments.size() == 2u);
    BOOST_TEST(attachments[0].data() == payload.data());
    BOOST_TEST(attachments[1].data() != payload.data() + 990);
    BOOST_TEST(to_text(attachments[1]) == std::string(10, 'x'));
    BOOST_TEST(memory.use_count() == 2);
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

BOOST_AUTO_TEST_CASE(what_a_worker_says_of_an_error_is_cut) {
    const std::string euro = "\xE2\x82\xAC";
    std::string long_text = "begin";
    while (long_text.size() < 1u << 20) {
        long_text += euro;
    }
    long_text += "end";
    const json::object body{{"type", long_text}, {"message", long_text}, {"traceback", long_text}};
    const auto error = decode_as<error_message>(
        json::serialize(json::object{{"type", "error"}, {"id", 1}, {"error", body}}));
    BOOST_TEST(error.type.size() <= longest_name + 8);
    BOOST_TEST(error.message.size() <= longest_error_message + 8);
    BOOST_TEST(error.traceback.size() <= longest_traceback + 8);
    BOOST_TEST(error.message.starts_with("begin"));
    BOOST_TEST(error.traceback.ends_with("end"));
    BOOST_TEST((is_utf8(error.type) && is_utf8(error.message) && is_utf8(error.traceback)));
    const json::object plain{{"type", "T"}, {"message", "m"}, {"traceback", "t"}};
    const auto whole = decode_as<error_message>(
        json::serialize(json::object{{"type", "error"}, {"id", 1}, {"error", plain}}));
    BOOST_TEST((whole.type == "T" && whole.message == "m" && whole.traceback == "t"));
}

BOOST_AUTO_TEST_CASE(attachments_are_limited_in_number_and_to_results) {
    json::array none(most_attachments, 0);
    const json::object result{{"type", "result"}, {"id", 1}, {"value", nullptr}, {"attachments", none}};
    BOOST_TEST(decode_as<result_message>(json::serialize(result)).attachments.size() == most_attachments);
    none.push_back(0);
    BOOST_TEST(contains(complaint(with(result, "attachments", none)), "65,536"));
    const json::object ready{{"type", "ready"}, {"attachments", json::array{0}}};
    BOOST_TEST(contains(complaint(json::serialize(ready)), "in a result, chunk or tool_call only"));
}

BOOST_AUTO_TEST_CASE(the_name_of_a_health_check_is_limited) {
    const std::string name(longest_name + 1, 'x');
    const json::object hello{
        {"type", "hello"}, {"protocol", 1}, {"token", ""}, {"pid", 1}, {"health_check", name}};
    BOOST_TEST(contains(complaint(json::serialize(hello)), "'health_check'"));
}

namespace {

/// The outcome of decoding the text: the value, or the refusal.
std::string outcome(const std::string& text, const json_limits& limits) {
    worker_message_decoder decoder(limits);
    try {
        const auto message = decoder.decode({text, {}});
        const auto& result = std::get<result_message>(message);
        return std::to_string(result.id) + ": " + json::serialize(result.value);
    } catch (const protocol_violation& violation) {
        const std::string what = violation.what();
        return "refused" + what.substr(std::min(what.size(), what.find(": ")));
    }
}

/// Results in the usual form are read in another way than with a space after the brace.
const std::vector<std::string> result_rests = {
    R"(1,"value":null})",
    R"(0,"value":-1.5e3})",
    R"(999999999999999999,"value":"a\"b"})",
    R"(18446744073709551615,"value":[]})",
    R"(18446744073709551616,"value":[]})",
    R"(01,"value":1})",
    R"(-1,"value":1})",
    R"(1.0,"value":1})",
    R"(,"value":1})",
    R"(1,"value":{"a":[1,{"b":null}],"value":2}})",
    R"(1,"value": 1})",
    R"(1,"value":1 })",
    R"(1,"value":1}})",
    R"(1,"value":1,"extra":2})",
    R"(1,"value":1,"value":2})",
    R"(1,"value":1,"id":2})",
    R"(1,"value":1,2})",
    R"(1,"value":})",
    R"(1,"value":[1})",
    R"(1,"value":"x})",
    R"(1,"value":NaN})",
    R"(1,"value":99999999999999999999})",
    R"(1,"value":1)",
    R"(1,"valu":1})",
    R"(1})",
    R"(1,"attachments":[],"value":1})",
    "1,\"value\":\"\xff\"}",
};

} // namespace

BOOST_DATA_TEST_CASE(the_usual_form_of_a_result_makes_no_difference, data::make(result_rests)) {
    const auto usual = R"({"type":"result","id":)" + sample;
    const auto other = R"({ "type":"result","id":)" + sample;
    BOOST_TEST(outcome(usual, wide) == outcome(other, wide));
    for (std::size_t depth = 1; depth <= 5; ++depth) {
        BOOST_TEST(outcome(usual, {depth, mib}) == outcome(other, {depth, mib}));
    }
    for (std::size_t bytes = 0; bytes <= 700; ++bytes) {
        BOOST_REQUIRE_EQUAL(outcome(usual, {32, bytes}), outcome(other, {32, bytes}));
    }
}

BOOST_AUTO_TEST_CASE(a_result_in_the_usual_form_has_no_payload) {
    BOOST_TEST(contains(complaint(R"({"type":"result","id":1,"value":1})", "x"), "attachments"));
}

BOOST_AUTO_TEST_SUITE_END()

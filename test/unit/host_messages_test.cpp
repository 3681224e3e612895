// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/sent_bytes.hpp"
#include "support/text.hpp"
#include "wire/frame.hpp"
#include "wire/host_messages.hpp"
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
#include <vector>

using namespace skep;
using skep::test::contains;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(host_messages_test)

namespace {

constexpr auto max_id = std::numeric_limits<std::uint64_t>::max();

blob to_blob(std::string_view bytes) {
    return blob::copy_of(std::as_bytes(std::span(bytes)));
}

std::string to_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

/// Frames of up to `frame_bytes`.
limit_options up_to(std::size_t frame_bytes) {
    limit_options limits;
    limits.frame_bytes = frame_bytes;
    return limits;
}

/// Returns true if the whole frame is within the limits.
bool is_within(const limit_options& limits, send_buffer& buffer) {
    frame_decoder decoder({limits.frame_bytes, limits.json_bytes});
    const auto bytes = test::sent_bytes(buffer);
    const auto room = decoder.prepare();
    std::copy(bytes.begin(), bytes.end(), room.begin());
    decoder.commit(bytes.size());
    return decoder.next().has_value();
}

void encode_to(std::string& out, std::uint64_t id, const request& call, std::optional<duration> time_left,
               std::optional<duration> sent_after = {}, batch_place batch = {}) {
    send_buffer buffer;
    append_call(buffer, id, encode_call(call, limit_options()), call, {time_left, sent_after, batch});
    out += test::sent_bytes(buffer);
}

sent_frame sent_call(const request& call, std::optional<duration> time_left = {}, std::uint64_t id = 1) {
    std::string out;
    encode_to(out, id, call, time_left);
    return take_apart(out);
}

errc refusal(const request& call, const limit_options& limits = {}) {
    try {
        encode_call(call, limits);
    } catch (const error& failure) {
        BOOST_TEST(!failure.info().detail.empty());
        return static_cast<errc>(failure.code().value());
    }
    BOOST_ERROR("the call was encoded");
    return {};
}

} // namespace

BOOST_AUTO_TEST_CASE(welcome_says_everything) {
    heartbeat_options heartbeat;
    heartbeat.interval = 1500ms;
    heartbeat.timeout = 7s;
    limit_options limits;
    limits.frame_bytes = 123456;
    limits.json_bytes = 23456;
    limits.json_depth = 345;
    limits.tree_bytes = 4567890;
    limits.tool_call_bytes = 5678;
    std::string out;
    const worker_id blue{"blue \"pool\"", 3, 17};
    append_welcome(out, {blue, heartbeat, limits, 4, "7f3a9c1b-", "info", exit_class::segfault});
    const auto frame = take_apart(out);
    const json::object expected{
        {"type", "welcome"},
        {"worker", "blue \"pool\"/3#17"},
        {"pool", "blue \"pool\""},
        {"heartbeat", {{"enabled", true}, {"interval_ms", 1500}, {"timeout_ms", 7000}}},
        {"limits",
         {{"frame_bytes", 123456},
          {"json_bytes", 23456},
          {"json_depth", 345},
          {"tree_bytes", 4567890},
          {"attachments", 65536},
          {"message_bytes", 131072},
          {"tool_calls", 16},
          {"tool_call_bytes", 5678}}},
        {"capacity", 4},
        {"correlation", "7f3a9c1b-"},
        {"records", true},
        {"log_level", "info"},
        {"previous_exit", "segfault"}};
    BOOST_TEST((frame.message == expected), json::serialize(frame.message));
    BOOST_TEST(frame.payload.empty());
    heartbeat.enabled = false;
    limits.tool_call_bytes = 1u << 30; // which no frame may have
    out.clear();
    append_welcome(out, {blue, heartbeat, limits, 4, "7f3a9c1b-", "info", {}});
    const auto least = take_apart(out).message;
    BOOST_TEST(!least.at("heartbeat").at("enabled").as_bool());
    BOOST_TEST(least.at("limits").at("tool_call_bytes") == json::value(123456));
    BOOST_TEST(!least.contains("previous_exit"));
    BOOST_TEST(!least.contains("shared"));
}

BOOST_AUTO_TEST_CASE(welcome_tells_of_shared_memory) {
    shared_options shared;
    shared.least_result = 4096;
    shared.bytes = 1u << 20;
    shared.regions = 3;
    std::string out;
    const worker_id blue{"blue", 3, 17};
    append_welcome(out, {blue, heartbeat_options(), limit_options(), 4, "7f-", "info", {}, &shared});
    const json::value expected{{"least", 4096}, {"bytes", 1u << 20}, {"regions", 3}};
    BOOST_TEST((take_apart(out).message.at("shared") == expected));
}

BOOST_AUTO_TEST_CASE(attachments_with_a_place_are_not_in_the_frame) {
    request call("echo");
    call.arg("a", 1).session("s").metadata("attachments", json::array{1});
    call.attach("abc").attach("defgh").attach("");
    const std::vector<region_place> places{{}, {7, 8192}, {}};
    call_dispatch facts;
    facts.places = places;
    send_buffer buffer;
    append_call(buffer, 3, encode_call(call, limit_options()), call, facts);
    const auto shared = take_apart(test::sent_bytes(buffer));
    auto expected = sent_call(call, {}, 3).message;
    expected["attachments"] = json::array{3, {{"region", 7}, {"at", 8192}, {"bytes", 5}}, 0};
    BOOST_TEST((shared.message == expected), json::serialize(shared.message));
    BOOST_TEST(shared.payload == "abc");
}

BOOST_AUTO_TEST_CASE(the_payload_beside_places_is_aligned_for_arrays) {
    request call("sum");
    call.arg("x", make_ndarray(std::vector<double>(3)));
    BOOST_REQUIRE(!call.arrays().empty());
    call.attach("0123456789abcdef");
    const std::vector<region_place> places(call.attachments().size() - 1, region_place{1, 0});
    call_dispatch facts;
    facts.places = places;
    send_buffer buffer;
    append_call(buffer, 3, encode_call(call, limit_options()), call, facts);
    const auto bytes = test::sent_bytes(buffer);
    BOOST_TEST(take_apart(bytes).payload == "0123456789abcdef");
    BOOST_TEST(bytes.find("0123456789abcdef") % 16 == 0u);
}

BOOST_AUTO_TEST_CASE(places_never_exceed_the_limit_of_the_json) {
    limit_options limits;
    limits.json_bytes = 1024;
    request call("echo");
    for (int i = 0; i < 20; ++i) {
        call.attach(std::string(100, 'a'));
    }
    const auto body = encode_call(call, limits);
    const auto most = room_for_places(body, limits);
    BOOST_TEST(most > 0u);
    BOOST_TEST(most < 20u);
    std::vector<region_place> places(20);
    std::fill_n(places.begin(), most, region_place{max_id, 1ULL << 40});
    call_dispatch facts;
    facts.left = facts.sent_after = std::chrono::hours(24 * 365);
    facts.batch = {max_id, 65'536};
    facts.places = places;
    send_buffer buffer;
    append_call(buffer, max_id, body, call, facts);
    BOOST_TEST(is_within(limits, buffer));
    BOOST_TEST(room_for_places(std::string(1024, 'a'), limits) == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_names_released_places) {
    request call("echo");
    call.arg("a", 1).attach("abc").attach("defgh");
    const std::vector<region_place> released{{4, 0}, {max_id, 8192}};
    const std::vector<region_place> places{{}, {7, 8192}};
    call_dispatch facts;
    facts.released = released;
    for (const bool has_places : {false, true}) {
        facts.places = has_places ? std::span<const region_place>(places) : std::span<const region_place>();
        send_buffer buffer;
        append_call(buffer, 3, encode_call(call, limit_options()), call, facts);
        const auto frame = take_apart(test::sent_bytes(buffer));
        auto expected = sent_call(call, {}, 3).message;
        expected["released"] = json::array{json::array{4, 0}, json::array{max_id, 8192}};
        if (has_places) {
            expected["attachments"] = json::array{3, {{"region", 7}, {"at", 8192}, {"bytes", 5}}};
        }
        BOOST_TEST((frame.message == expected), json::serialize(frame.message));
        BOOST_TEST(frame.payload == (has_places ? "abc" : "abcdefgh"));
    }
}

BOOST_AUTO_TEST_CASE(released_places_never_exceed_a_limit) {
    request call("echo");
    call.attach(std::string(500, 'a'));
    limit_options by_json;
    by_json.json_bytes = 1024;
    limit_options by_frame;
    by_frame.frame_bytes = 1400;
    by_frame.json_bytes = 1400;
    for (const auto& limits : {by_json, by_frame}) {
        const auto body = encode_call(call, limits);
        const std::vector<region_place> places{{max_id, 1ULL << 40}};
        const std::vector<region_place> released(room_for_released(body, call, limits),
                                                 region_place{max_id, 1ULL << 40});
        BOOST_TEST(!released.empty());
        call_dispatch facts;
        facts.left = facts.sent_after = std::chrono::hours(24 * 365);
        facts.batch = {max_id, 65'536};
        facts.released = released;
        for (const bool has_places : {false, true}) {
            facts.places =
                has_places ? std::span<const region_place>(places) : std::span<const region_place>();
            send_buffer buffer;
            append_call(buffer, max_id, body, call, facts);
            BOOST_TEST(is_within(limits, buffer));
        }
        std::string credit;
        append_credit(credit, max_id, {1LL << 40, 1LL << 40},
                      std::vector<region_place>(room_for_released(limits), region_place{max_id, 1ULL << 40}));
        BOOST_TEST(credit.size() <= limits.json_bytes);
    }
    BOOST_TEST(room_for_released(std::string(1024, 'a'), call, by_json) == 0u);
}

BOOST_AUTO_TEST_CASE(a_credit_names_released_places) {
    std::string out;
    const std::vector<region_place> released{{4, 0}, {4, 8192}};
    append_credit(out, 7, {2, 66}, released);
    const json::object expected{{"type", "credit"},
                                {"id", 7},
                                {"credit", {{"chunks", 2}, {"bytes", 66}}},
                                {"released", json::array{json::array{4, 0}, json::array{4, 8192}}}};
    BOOST_TEST((take_apart(out).message == expected));
}

BOOST_AUTO_TEST_CASE(the_error_of_a_tool_fits_into_every_limit) {
    auto limits = up_to(1024);
    limits.json_bytes = 1024;
    const std::string endless(100'000, '\x01'); // six bytes each, as JSON has it
    const tool_failure failure{endless, endless, endless, json::value(endless)};
    const auto sent = take_apart(encode_tool_error(max_id, failure, limits).text);
    BOOST_TEST(json::serialize(sent.message).size() <= limits.json_bytes);
    BOOST_TEST(!sent.message.at("error").at("type").as_string().empty());
    BOOST_TEST(!sent.message.at("error").as_object().contains("data"));
}

BOOST_AUTO_TEST_CASE(the_least_a_call_says) {
    const auto frame = sent_call(request("echo"), {}, max_id);
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
    call.attach(to_blob("abc")).attach(blob{}).attach(to_blob(std::string_view("\0\xFF", 2)));
    const auto frame = sent_call(call, 2500ms, 12);
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

BOOST_AUTO_TEST_CASE(a_call_with_arrays_names_their_arguments) {
    auto call = request("f").arg("x", make_ndarray(std::vector<int>{1, 2})).arg("y", 1).arg("z\"", {});
    call.arg("z\"", std::vector{make_ndarray(std::vector<std::uint8_t>{7})});
    const auto frame = sent_call(call);
    BOOST_TEST((frame.message.at("arrays") == json::value{"x", "z\""}));
    BOOST_TEST((frame.message.at("attachments") == json::value{8, 1}));
    const json::object x{{"$array", {{"$attachment", 0}}}, {"dtype", "<i4"}, {"shape", json::array{2}}};
    BOOST_TEST((frame.message.at("args").at("x") == x));
    BOOST_TEST(frame.payload == std::string("\1\0\0\0\2\0\0\0\7", 9));
}

BOOST_AUTO_TEST_CASE(the_first_array_begins_at_a_multiple_of_16) {
    for (std::uint64_t id = 1; id < 1'000'000'000; id *= 10) {
        std::string out;
        encode_to(out, id, request("f").arg("x", make_ndarray(std::vector<std::uint8_t>{'!'})), {});
        BOOST_TEST(out.size() % 16 == 1u);
        BOOST_TEST(out.ends_with("}!"));
    }
}

BOOST_AUTO_TEST_CASE(a_deadline_that_has_passed_is_none_of_the_workers_time) {
    BOOST_TEST(sent_call(request("f"), 0s).message.at("deadline_ms").to_number<int>() == 0);
    BOOST_TEST(sent_call(request("f"), -5s).message.at("deadline_ms").to_number<int>() == 0);
    BOOST_TEST(sent_call(request("f"), 999us).message.at("deadline_ms").to_number<int>() == 0);
    BOOST_TEST(sent_call(request("f"), 24h).message.at("deadline_ms").to_number<int>() == 86'400'000);
}

BOOST_DATA_TEST_CASE(ids_are_escaped,
                     data::make({"\"", "\\", "\"},{\"type\":\"shutdown\"", "\n\r\t\b\f", "\x01\x1F\x7F",
                                 "</script>", "\xE2\x80\xA8", "\xF0\x9F\x98\x80", " ", "'"}),
                     text) {
    request call{text};
    call.session(text).correlation_id(text).arg(text, text).metadata(text, text);
    const auto frame = sent_call(call);
    for (const auto* const key : {"command", "session", "correlation_id"}) {
        BOOST_TEST(frame.message.at(key).as_string() == text);
    }
    BOOST_TEST(frame.message.at("args").at(text).as_string() == text);
    BOOST_TEST(frame.message.at("metadata").at(text).as_string() == text);
    BOOST_TEST(frame.message.size() == 7u);
}

BOOST_AUTO_TEST_CASE(nul_in_ids_is_escaped) {
    const std::string text("a\0b", 3);
    const auto frame = sent_call(request(text).session(text).correlation_id(text));
    for (const auto* const key : {"command", "session", "correlation_id"}) {
        BOOST_TEST((frame.message.at(key).as_string() == text));
    }
}

BOOST_AUTO_TEST_CASE(texts_longer_than_any_buffer) {
    for (const std::size_t size : {4093u, 4094u, 4095u, 4096u, 4097u, 100'000u}) {
        const auto text = std::string(size, 'a') + "\"\xC3\xA4";
        const auto frame = sent_call(request("a").arg("a", json::array{text, text}).metadata("m", text));
        BOOST_TEST((frame.message.at("metadata").at("m").as_string() == text), size);
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
    const auto frame = sent_call(request("f", args));
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
        std::string out;
        try {
            encode_to(out, 1, request("f").arg("x", number), {});
        } catch (const error& failure) {
            BOOST_TEST((failure.code() == errc::invalid_request));
            BOOST_TEST(out.empty());
            continue;
        }
        boost::system::error_code ec;
        json::parse(out.substr(frame_header_size), ec);
        BOOST_TEST(!ec, out.substr(frame_header_size));
    }
}

BOOST_AUTO_TEST_CASE(control_messages) {
    std::string out;
    append_cancel(out, max_id);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "cancel"}, {"id", max_id}}));
    out.clear();
    append_recall(out, max_id);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "recall"}, {"id", max_id}}));
    out.clear();
    append_ping(out, 5);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "ping"}, {"seq", 5}}));
    out.clear();
    append_shutdown(out, 1500ms);
    BOOST_TEST((take_apart(out).message == json::object{{"type", "shutdown"}, {"grace_ms", 1500}}));
    out.clear();
    append_shutdown(out, -1s);
    BOOST_TEST(take_apart(out).message.at("grace_ms").to_number<int>() == 0);
}

BOOST_AUTO_TEST_CASE(messages_are_appended) {
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
    keep([&](std::string& to) { encode_to(to, 1, request("a").attach(to_blob("xyz")), {}); });
    keep([&](std::string& to) { append_ping(to, 1); });
    keep([&](std::string& to) { encode_to(to, 2, request("b").session("s"), 1s); });
    keep([&](std::string& to) { append_cancel(to, 2); });
    keep([&](std::string& to) { append_shutdown(to, 1s); });
    BOOST_TEST(out == expected);
}

BOOST_AUTO_TEST_CASE(a_call_of_a_batch_names_the_batch_and_its_size) {
    std::string out;
    encode_to(out, 8, request("embed"), {}, {}, {7, 12});
    BOOST_TEST(out.find(R"({"type":"call","id":8,"batch":[7,12],"command":"embed")") != out.npos);
    out.clear();
    encode_to(out, 8, request("embed"), {}, {}, {8, 1});
    BOOST_TEST(out.find("batch") == out.npos);
}

BOOST_AUTO_TEST_CASE(the_frame_limit_holds_whatever_the_id_and_the_deadline) {
    const auto call = request("echo").arg("x", json::string(500, 'x')).attach(to_blob("0123456789"));
    std::string longest;
    encode_to(longest, max_id, call, duration::max(), duration::max(), {max_id, most_in_batch});
    const auto size = longest.size() - 4;

    BOOST_TEST(
        !encode_call(call, up_to(size + 16)).empty()); // little of the limit is lost to what is not known yet
    for (const std::size_t limit : {size - 1, size - 10, size / 2, std::size_t(1)}) {
        BOOST_TEST((refusal(call, up_to(limit)) == errc::frame_too_large));
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
        BOOST_TEST((refusal(call) == errc::invalid_request));
    }
}

BOOST_AUTO_TEST_CASE(a_refusal_does_not_tell_what_was_in_the_call) {
    std::string out;
    try {
        encode_to(out, 1, request("f").arg("password", "s3cret\xFF"), {});
        BOOST_ERROR("the call was encoded");
    } catch (const error& failure) {
        BOOST_TEST(!contains(failure.what(), "s3cret"));
        BOOST_TEST(contains(failure.what(), "UTF-8"));
    }
}

BOOST_AUTO_TEST_CASE(what_can_be_sent_could_be_sent_back) {
    const auto nested = [](int depth) {
        json::value value = json::array();
        for (int i = 1; i < depth; ++i) {
            value = json::array{value};
        }
        return value;
    };
    limit_options limits;
    limits.json_depth = 10;
    BOOST_TEST(!encode_call(request("echo").arg("value", nested(8)), limits)
                    .empty()); // and the arguments, the message
    BOOST_TEST((refusal(request("echo").arg("value", nested(9)), limits) == errc::invalid_request));
    limits = {};
    BOOST_TEST(!encode_call(request("echo").arg("value", nested(499)), limits).empty());
    BOOST_TEST((refusal(request("echo").arg("value", nested(500)), limits) == errc::invalid_request));
    limits.json_bytes = 2000;
    BOOST_TEST(
        (refusal(request("echo").arg("value", std::string(2000, 'x')), limits) == errc::frame_too_large));
    BOOST_TEST(!encode_call(request("echo").attach(std::vector<std::byte>(3000)), limits).empty());
}

BOOST_AUTO_TEST_CASE(a_pipelined_call_says_when) {
    std::string out;
    encode_to(out, 1, request("echo"), 2s, 1500ms);
    const auto message = take_apart(out).message;
    BOOST_TEST(message.at("deadline_ms").as_int64() == 2000);
    BOOST_TEST(message.at("sent_ms").as_int64() == 1500);
}

/// The member `node` of a call to a node.
json::value sent_node_facts(const request& call, const std::vector<std::string>& tools) {
    send_buffer buffer;
    call_dispatch facts;
    facts.tools_for_node = &tools;
    append_call(buffer, 1, encode_call(call, limit_options()), call, facts);
    return take_apart(test::sent_bytes(buffer)).message.at("node");
}

BOOST_AUTO_TEST_CASE(a_call_to_a_node_has_facts_for_the_node) {
    auto call = request("f").session("s").affinity(affinity_mode::strict_fail_fast).batch_key("b\"");
    call.queue_timeout(1500ms);
    const json::object expected{
        {"tools", {"store", "load\""}}, {"affinity", 2}, {"queue_timeout_ms", 1500}, {"batch_key", "b\""}};
    BOOST_TEST((sent_node_facts(call, {"store", "load\""}) == expected));
    BOOST_TEST((sent_node_facts(request("f"), {}) == json::object{{"tools", json::array()}}));
    BOOST_TEST(!sent_call(call).message.contains("node"));
}

BOOST_AUTO_TEST_CASE(the_facts_for_a_node_come_before_the_rest_of_the_call) {
    const std::vector<std::string> tools{"store"};
    const request call("f");
    send_buffer buffer;
    append_call(buffer, 7, encode_call(call, limit_options()), call, {2s, 20ms, {}, &tools});
    const auto text = test::sent_bytes(buffer);
    const auto head = R"({"type":"call","id":7,"deadline_ms":2000,"sent_ms":20,"node":{"tools":["store"]})";
    BOOST_TEST(contains(text, head));
}

BOOST_AUTO_TEST_CASE(a_node_learns_of_64_tools) {
    std::vector<std::string> tools;
    for (int i = 0; i < 65; ++i) {
        tools.push_back("tool-" + std::to_string(i));
    }
    const auto facts = sent_node_facts(request("f"), tools);
    const auto& sent = facts.at("tools").as_array();
    BOOST_TEST(sent.size() == 64u);
    BOOST_TEST(sent.front() == "tool-0");
    BOOST_TEST(sent.back() == "tool-63");
}

BOOST_AUTO_TEST_CASE(arrays_of_a_call_to_a_node_are_named_and_aligned) {
    const std::vector<std::string> tools{"store"};
    const auto call = request("f").arg("x", make_ndarray(std::vector<std::uint8_t>{'!'}));
    send_buffer buffer;
    append_call(buffer, 1, encode_call(call, limit_options()), call, {{}, {}, {}, &tools});
    const auto bytes = test::sent_bytes(buffer);
    BOOST_TEST(bytes.size() % 16 == 1u);
    const auto arrays = take_apart(bytes).message.at("arrays").as_array();
    BOOST_REQUIRE(arrays.size() == 1u);
    BOOST_TEST(arrays[0] == "x");
}

BOOST_AUTO_TEST_CASE(names_of_callers_have_at_most_256_bytes) {
    const std::string longest(256, 'n');
    const auto most = sent_call(
        request(longest).session(longest).correlation_id(longest).metadata(longest, std::string(1000, 'v')));
    BOOST_TEST((most.message.at("session").as_string() == longest));
    const std::string beyond = longest + "n";
    const auto refusal_of = [](const request& call) {
        try {
            encode_call(call, limit_options());
        } catch (const error& refused) {
            BOOST_TEST((refused.kind() == errc::invalid_request));
            return refused.info().detail;
        }
        return std::string("it was encoded");
    };
    const std::string rule = " has 257 bytes: must have at most 256";
    BOOST_TEST(refusal_of(request(beyond)) == "its command" + rule);
    BOOST_TEST(refusal_of(request("a").session(beyond)) == "its session" + rule);
    BOOST_TEST(refusal_of(request("a").correlation_id(beyond)) == "its correlation_id" + rule);
    BOOST_TEST(refusal_of(request("a").metadata(beyond, 1)) == "a key of its metadata" + rule);
}

BOOST_AUTO_TEST_SUITE(digests)

const keyed_digest::key secret{1, 2};

keyed_digest::value digest(const request& call, const keyed_digest::key& key = secret) {
    return digest_of(encode_call(call, limit_options()), call, key);
}

BOOST_AUTO_TEST_CASE(what_a_worker_sees_tells_inputs_apart) {
    const std::vector<request> inputs{
        request("a"),
        request("b"),
        request("a").arg("x", 1),
        request("a").arg("x", "1"),
        request("a").session("s"),
        request("a").session("t"),
        request("s").session("a"),
        request("a").metadata("x", 1),
        request("a").metadata("x", 2),
        request("a").metadata("y", 1),
        request("a").metadata("x", 1).metadata("y", 1),
        request("a").metadata("", "x"),
        request("a").attach("x").attach("1"), // as many bytes as the metadata x = 1
        request("a").attach("x1"),
        request("a").attach("x1").attach(""),
        request("a").attach("").attach("x1"),
        request("a").arg("x", make_ndarray(std::vector<std::uint8_t>{1})),
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        BOOST_TEST((digest(inputs[i]) == digest(request(inputs[i]))));
        for (std::size_t j = 0; j < i; ++j) {
            BOOST_TEST((digest(inputs[i]) != digest(inputs[j])), i << " and " << j);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_is_another_one_each_time_does_not) {
    const auto plain = request("a").arg("x", 1).metadata("m", 1);
    const auto same = [&](const request& other) {
        return digest(other) == digest(plain) && outline_of(other) == outline_of(plain);
    };
    BOOST_TEST(same(request(plain).correlation_id("c")));
    BOOST_TEST(same(request(plain).timeout(1s).idempotent(true)));
    BOOST_TEST(same(request(plain).metadata("traceparent", "00-1").metadata("tracestate", "a=b")));
}

BOOST_AUTO_TEST_CASE(the_digest_depends_on_the_secret) {
    const request call("a");
    BOOST_TEST((digest(call, {1, 2}) != digest(call, {1, 3})));
}

BOOST_AUTO_TEST_CASE(an_outline_is_of_command_and_attachments) {
    BOOST_TEST(outline_of(request("a").arg("x", 1)) == outline_of(request("a")));
    BOOST_TEST(outline_of(request("a")) != outline_of(request("b")));
    BOOST_TEST(outline_of(request("a")) != outline_of(request("a").attach("x")));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/sent_bytes.hpp"
#include "support/text.hpp"
#include "wire/call_messages.hpp"
#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;
using skep::test::contains;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(call_messages)

namespace {

host_message decode(std::string_view text, std::string_view payload = {}) {
    host_message_decoder decoder;
    return decoder.decode({text, std::as_bytes(std::span(payload))});
}

template <class Message>
Message decode_as(std::string_view text, std::string_view payload = {}) {
    auto message = decode(text, payload);
    BOOST_REQUIRE(std::holds_alternative<Message>(message));
    return std::get<Message>(std::move(message));
}

/// What the host's own encoder has appended, decoded.
template <class Message>
Message sent(const std::string& frames) {
    frame_decoder decoder({1u << 20, 1u << 20});
    const auto room = decoder.prepare();
    std::copy(frames.begin(), frames.end(), room.begin());
    decoder.commit(frames.size());
    const auto frame = decoder.next();
    BOOST_REQUIRE(frame);
    host_message_decoder messages;
    auto message = messages.decode(*frame);
    BOOST_REQUIRE(std::holds_alternative<Message>(message));
    return std::get<Message>(std::move(message));
}

/// Regions whose every place has the bytes that are asked for.
struct any_regions final : memory_source {
    blob open(const region_place& place, std::size_t bytes) override {
        opened.push_back(place);
        return blob(std::vector<std::byte>(bytes));
    }
    std::size_t begin_message() noexcept override { return 100; }

    std::vector<region_place> opened;
};

call_message decode_call_with(any_regions& regions, std::string_view attachments,
                              std::string_view payload = {}) {
    const auto text =
        R"({"type":"call","id":1,"command":"a","args":{},"attachments":)" + std::string(attachments) + "}";
    host_message_decoder decoder;
    const frame_view frame{text, std::as_bytes(std::span(payload))};
    return std::get<call_message>(decoder.decode(frame, &regions));
}

} // namespace

BOOST_AUTO_TEST_CASE(attachments_lie_in_the_frame_and_in_shared_memory) {
    any_regions regions;
    const auto call = decode_call_with(
        regions, R"([2,{"region":3,"at":4096,"bytes":5},1,{"bytes":0,"at":0,"region":9,"moon":1}])", "abc");
    BOOST_REQUIRE(call.attachments.size() == 4u);
    BOOST_TEST(call.attachments[0].text() == "ab");
    BOOST_TEST(call.attachments[1].size() == 5u);
    BOOST_TEST(call.attachments[2].text() == "c");
    BOOST_TEST(call.attachments[3].empty());
    BOOST_TEST((regions.opened == std::vector<region_place>{{3, 4096}, {9, 0}}));
    regions.opened.clear();
    decode_call_with(regions, R"([{"sealed":2,"at":1,"bytes":99},{"bytes":1,"at":0,"sealed":3}])");
    BOOST_TEST((regions.opened == std::vector<region_place>{{2, 1, true}, {3, 0, true}}));
}

BOOST_AUTO_TEST_CASE(a_place_without_its_members_is_refused) {
    any_regions regions;
    for (const auto* const each :
         {R"([{}])", R"([{"region":1,"at":0}])", R"([{"region":1,"bytes":1}])", R"([{"at":0,"bytes":1}])",
          R"([{"region":"1","at":0,"bytes":1}])", R"([{"region":1,"at":-1,"bytes":1}])",
          R"([{"region":1,"at":0,"bytes":1.5}])", R"([{"region":1,"at":0,"bytes":null}])",
          R"([{"sealed":null,"at":0,"bytes":1}])", R"([{"sealed":1,"bytes":1}])",
          R"({"region":1,"at":0,"bytes":1})", R"([[1,0,1]])"}) {
        BOOST_TEST_CONTEXT(each) {
            BOOST_CHECK_THROW(decode_call_with(regions, each), protocol_violation);
        }
    }
    BOOST_CHECK_THROW(decode_call_with(regions, R"([{"region":1,"at":0,"bytes":1}])", "x"),
                      protocol_violation);
    BOOST_CHECK_THROW(
        decode_call_with(regions, R"([{"region":1,"at":0,"bytes":60},{"sealed":1,"at":0,"bytes":41}])"),
        protocol_violation);                 // 100 bytes are the limit
    BOOST_TEST(regions.opened.size() == 2u); // the last of these: too many bytes are in its frame
}

BOOST_AUTO_TEST_CASE(no_place_is_opened_without_shared_memory) {
    BOOST_CHECK_THROW(
        decode(
            R"({"type":"call","id":1,"command":"a","args":{},"attachments":[{"region":1,"at":0,"bytes":1}]})"),
        protocol_violation);
}

BOOST_AUTO_TEST_CASE(a_call_with_everything) {
    auto asked = request("add").arg("a", 1).attach("abc").attach("").session("ada").correlation_id("4bf9");
    asked.metadata("tenant", "x");
    const stream_credit credit{64, 1000};
    send_buffer buffer;
    append_call(buffer, 7, encode_call(asked, {}, &credit), asked, {1500ms, 20ms, {7, 12}});
    const auto call = sent<call_message>(test::sent_bytes(buffer));
    BOOST_TEST(call.id == 7u);
    BOOST_TEST(call.command == "add");
    BOOST_TEST(call.args.at("a").as_int64() == 1);
    BOOST_REQUIRE(call.attachments.size() == 2u);
    BOOST_TEST(call.attachments[0].text() == "abc");
    BOOST_TEST(call.session == "ada");
    BOOST_TEST(call.correlation_id == "4bf9");
    BOOST_TEST(call.metadata.at("tenant").as_string() == "x");
    BOOST_TEST((call.left == 1500ms));
    BOOST_TEST((call.sent_after == 20ms));
    BOOST_REQUIRE(call.stream);
    BOOST_TEST(call.stream->chunks == 64);
    BOOST_TEST(call.stream->bytes == 1000);
    BOOST_TEST((call.batch == batch_place{7, 12}));
}

BOOST_AUTO_TEST_CASE(a_call_to_a_node) {
    const auto asked = request("add")
                           .arg("x", make_ndarray(std::vector<int>{1, 2}))
                           .session("ada")
                           .affinity(affinity_mode::strict_queue)
                           .queue_timeout(1500ms)
                           .batch_key("b");
    const std::vector<std::string> tools{"store", "load"};
    send_buffer buffer;
    append_call(buffer, 7, encode_call(asked, {}), asked, {1500ms, 20ms, {}, &tools});
    const auto call = sent<call_message>(test::sent_bytes(buffer));
    BOOST_REQUIRE(call.for_node);
    BOOST_TEST((call.for_node->affinity == affinity_mode::strict_queue));
    BOOST_TEST((call.for_node->queue_timeout == 1500ms));
    BOOST_TEST(call.for_node->batch_key == "b");
    BOOST_TEST((call.for_node->tools == tools));
    BOOST_TEST((call.for_node->arrays == std::vector<std::string>{"x"}));
}

/// The facts for a node in a call with these members.
std::shared_ptr<const node_call> facts_in(const std::string& node, const std::string& more = {}) {
    return decode_as<call_message>(R"({"type":"call","id":1,"command":"x","args":{},"node":)" + node + more +
                                   "}")
        .for_node;
}

BOOST_AUTO_TEST_CASE(facts_for_a_node_may_be_missing) {
    BOOST_TEST(!decode_as<call_message>(R"({"type":"call","id":1,"command":"x","args":{}})").for_node);
    const auto facts = facts_in(R"({"new":1})");
    BOOST_REQUIRE(facts);
    BOOST_TEST(!facts->affinity.has_value());
    BOOST_TEST(!facts->queue_timeout.has_value());
    BOOST_TEST(facts->batch_key.empty());
    BOOST_TEST(facts->tools.empty());
    BOOST_TEST(facts->arrays.empty());
    BOOST_TEST(facts_in("{}", R"(,"arrays":["a","b"])")->arrays.size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_wait_at_a_node_has_a_limit) {
    BOOST_TEST((facts_in(R"({"queue_timeout_ms":0})")->queue_timeout == 0s));
    BOOST_TEST((facts_in(R"({"queue_timeout_ms":86399999})")->queue_timeout == 24h - 1ms));
    for (const std::string long_time :
         {"86400001", "4294967296", "9223372036854775808", "18446744073709551615"}) {
        BOOST_TEST((facts_in(R"({"queue_timeout_ms":)" + long_time + "}")->queue_timeout == 24h), long_time);
    }
}

BOOST_AUTO_TEST_CASE(a_client_names_at_most_64_tools) {
    const auto of_tools = [](int count) {
        std::string names;
        for (int i = 0; i < count; ++i) {
            names += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\"";
        }
        return R"({"tools":[)" + names + "]}";
    };
    BOOST_TEST(facts_in(of_tools(64))->tools.size() == 64u);
    BOOST_CHECK_THROW(facts_in(of_tools(65)), protocol_violation);
}

BOOST_DATA_TEST_CASE(facts_that_a_node_refuses,
                     data::make<std::string>(
                         {"1", "[]", "null", R"("x")", R"({"affinity":3})", R"({"affinity":-1})",
                          R"({"affinity":1.5})", R"({"affinity":"1"})", R"({"affinity":null})",
                          R"({"affinity":18446744073709551615})", R"({"queue_timeout_ms":-1})",
                          R"({"queue_timeout_ms":"1"})", R"({"queue_timeout_ms":null})", R"({"batch_key":1})",
                          R"({"batch_key":[]})", R"({"tools":[1]})", R"({"tools":["a",null]})"}),
                     facts) {
    BOOST_CHECK_THROW(facts_in(facts), protocol_violation);
}

BOOST_AUTO_TEST_CASE(a_bare_call) {
    const auto call = decode_as<call_message>(R"({"type":"call","id":1,"command":"x","args":{},"new":[]})");
    BOOST_TEST(call.session.empty());
    BOOST_TEST(!call.left);
    BOOST_TEST(!call.stream);
    BOOST_TEST(call.batch.size == 1u);
}

BOOST_AUTO_TEST_CASE(a_welcome) {
    limit_options limits;
    limits.frame_bytes = 1234567;
    std::string frames;
    const worker_id worker{"default", 0, 1};
    const heartbeat_options heartbeat;
    append_welcome(frames, {worker, heartbeat, limits, 4, "7f-", "info", exit_class::segfault});
    const auto welcome = sent<welcome_message>(frames);
    BOOST_TEST(welcome.capacity == 4u);
    BOOST_TEST(welcome.correlation == "7f-");
    BOOST_TEST(welcome.limits.frame_bytes == 1234567u);
    BOOST_TEST(welcome.limits.json_depth == limits.json_depth);
    BOOST_TEST(welcome.previous_exit == "segfault");
    const auto told =
        decode_as<welcome_message>(R"({"type":"welcome","limits":{"tool_calls":9},"correlation":"7f-"})");
    BOOST_TEST(told.limits.tool_calls == 9u);
    BOOST_TEST(told.correlation == "7f-");
    BOOST_TEST(!told.shared);
    frames.clear();
    const shared_options shared;
    append_welcome(frames, {worker, heartbeat, limits, 4, "7f-", "info", {}, &shared});
    const auto limits_of_memory = sent<welcome_message>(frames).shared;
    BOOST_REQUIRE(limits_of_memory);
    BOOST_TEST(limits_of_memory->least == shared.least_result);
    BOOST_TEST(limits_of_memory->bytes == shared.bytes);
    BOOST_TEST(limits_of_memory->regions == shared.regions);
}

BOOST_AUTO_TEST_CASE(released_places) {
    std::string frames;
    const std::vector<region_place> released{{4, 0}, {4, 8192}};
    append_credit(frames, 4, {32, 2048}, released);
    BOOST_TEST((sent<credit_message>(frames).released == released));
    frames.clear();
    append_credit(frames, 4, {32, 2048});
    BOOST_TEST(sent<credit_message>(frames).released.empty());
    for (const std::string list :
         {"1", "[1]", "[[1]]", "[[1,2,3]]", "[[1,-1]]", R"([["a",0]])", "[[1,0.5]]"}) {
        BOOST_TEST_CONTEXT(list) {
            const auto credit =
                R"({"type":"credit","id":1,"credit":{"chunks":1,"bytes":1},"released":)" + list + "}";
            BOOST_CHECK_THROW(decode_as<credit_message>(credit), protocol_violation);
        }
    }
}

BOOST_AUTO_TEST_CASE(control_messages) {
    std::string frames;
    append_credit(frames, 4, {32, 2048});
    const auto credit = sent<credit_message>(frames);
    BOOST_TEST(credit.id == 4u);
    BOOST_TEST(credit.more.bytes == 2048);
    frames.clear();
    append_cancel(frames, 5);
    BOOST_TEST(sent<cancel_message>(frames).id == 5u);
    frames.clear();
    append_recall(frames, 9);
    BOOST_TEST(sent<recall_message>(frames).id == 9u);
    frames.clear();
    append_ping(frames, 6);
    BOOST_TEST(sent<ping_message>(frames).sequence == 6u);
    frames.clear();
    append_shutdown(frames, 5s);
    sent<shutdown_message>(frames);
}

BOOST_AUTO_TEST_CASE(answers_of_tools) {
    const auto result = decode_as<tool_result_message>(
        R"({"type":"tool_result","tool_call":3,"value":[1],"attachments":[2]})", "xy");
    BOOST_TEST(result.tool_call == 3u);
    BOOST_TEST(result.attachments.at(0).text() == "xy");
    const auto error = decode_as<tool_error_message>(
        R"({"type":"tool_error","tool_call":4,"error":{"type":"T","message":"m","code":"c","data":{"x":1}}})");
    BOOST_TEST(error.tool_call == 4u);
    BOOST_TEST(error.type == "T");
    BOOST_TEST(error.message == "m");
    BOOST_TEST(error.code == "c");
    BOOST_TEST(error.data.at("x").as_int64() == 1);
}

BOOST_DATA_TEST_CASE(
    what_is_no_message,
    data::make<std::string>({R"({"type":"call","command":"x","args":{}})",
                             R"({"type":"call","id":1,"args":{}})",
                             R"({"type":"call","id":1,"command":"x"})",
                             R"({"type":"call","id":1,"command":"x","args":[]})",
                             R"({"type":"call","id":-1,"command":"x","args":{}})",
                             R"({"type":"call","id":1,"command":"x","args":{},"stream":{}})",
                             R"({"type":"call","id":1,"command":"x","args":{},"metadata":1})",
                             R"({"type":"call","id":1,"command":"x","args":{},"session":1})",
                             R"({"type":"call","id":1,"command":"x","args":{},"attachments":[1]})",
                             R"({"type":"call","id":1,"command":"x","args":{},"batch":7})",
                             R"({"type":"call","id":1,"command":"x","args":{},"batch":[7]})",
                             R"({"type":"call","id":1,"command":"x","args":{},"batch":[7,2,1]})",
                             R"({"type":"call","id":1,"command":"x","args":{},"batch":[7,0]})",
                             R"({"type":"call","id":1,"command":"x","args":{},"batch":[0,2]})",
                             R"({"type":"call","id":1,"command":"x","args":{},"batch":["7",2]})",
                             R"({"type":"credit","id":1})",
                             R"({"type":"credit","id":1,"credit":{"chunks":1}})",
                             R"({"type":"credit","id":1,"credit":{"chunks":-1,"bytes":1}})",
                             R"({"type":"welcome"})",
                             R"({"type":"welcome","limits":{"frame_bytes":"x"}})",
                             R"({"type":"tool_result","tool_call":1})",
                             R"({"type":"tool_error","tool_call":1})",
                             R"({"type":"ping"})",
                             R"({"type":"cancel"})",
                             R"({"type":"result"})",
                             R"({"type":1})",
                             R"({})",
                             R"([])",
                             ""}),
    text) {
    BOOST_CHECK_THROW(decode(text), protocol_violation);
}

BOOST_AUTO_TEST_SUITE_END()

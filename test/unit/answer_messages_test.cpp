// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include "wire/answer_messages.hpp"
#include "wire/attachments.hpp"
#include "wire/json_writer.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace skep;
using skep::test::contains;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(answer_messages)

namespace {

/// What a host with these limits makes of a worker's frame.
worker_message received(std::string frames, const std::vector<blob>& attachments = {},
                        const worker_limits& limits = {}, memory_source* memory = nullptr) {
    for (const auto& bytes : attachments) {
        frames += bytes.text();
    }
    frame_decoder decoder({limits.frame_bytes, limits.json_bytes});
    for (std::size_t done = 0; done < frames.size();) {
        const auto room = decoder.prepare();
        const auto count = std::min(room.size(), frames.size() - done);
        std::copy_n(frames.begin() + static_cast<std::ptrdiff_t>(done), count, room.begin());
        decoder.commit(count);
        done += count;
    }
    const auto frame = decoder.next();
    BOOST_REQUIRE(frame);
    BOOST_TEST(decoder.at_boundary());
    worker_message_decoder messages({limits.json_depth, limits.tree_bytes});
    if (memory != nullptr) {
        messages.share(*memory);
    }
    return messages.decode(*frame);
}

json::value nested(int levels) {
    json::value deep = 1;
    for (int i = 0; i < levels; ++i) {
        json::array outer;
        outer.push_back(std::move(deep));
        deep = std::move(outer);
    }
    return deep;
}

/// Whether the host takes a result with these limits if the worker thinks so, and what became of it.
bool fits(const json::value& value, const worker_limits& limits, const std::vector<blob>& attachments = {}) {
    std::string frames = "before";
    try {
        append_answer(frames, answer_kind::result, 1, value, attachments, limits);
    } catch (const std::logic_error&) {
        BOOST_TEST(frames == "before");
        return false;
    }
    received(frames.substr(6), attachments, limits);
    return true;
}

} // namespace

BOOST_AUTO_TEST_CASE(hello_and_ready) {
    hello_message hello;
    hello.protocol = 1;
    hello.token = "secret";
    hello.pid = 4711;
    hello.sdk = "cpp";
    hello.capacity = 8;
    hello.commands = {"add", "echo"};
    hello.health_check = "skep.health_check";
    hello.own_health_check = false;
    hello.recall = true;
    hello.shared = 1;
    hello.batches["embed"] = {32, std::chrono::microseconds(1500)};
    std::string frames;
    append_hello(frames, hello, true);
    const auto message = received(frames);
    const auto& read = std::get<hello_message>(message);
    BOOST_TEST(read.token == "secret");
    BOOST_TEST(read.pid == 4711);
    BOOST_TEST(read.capacity == 8u);
    BOOST_TEST(read.commands == hello.commands, boost::test_tools::per_element());
    BOOST_TEST(read.health_check == "skep.health_check");
    BOOST_TEST(!read.own_health_check);
    BOOST_REQUIRE(read.batches.size() == 1u);
    BOOST_TEST(read.batches.at("embed").most == 32u);
    BOOST_TEST((read.batches.at("embed").wait == std::chrono::microseconds(1500)));
    BOOST_TEST(read.recall);
    BOOST_TEST(read.shared == 1u);
    frames.clear();
    append_hello(frames, {}, false);
    const auto least = received(frames);
    BOOST_TEST(!std::get<hello_message>(least).recall);
    BOOST_TEST(std::get<hello_message>(least).shared == 0u);
    frames.clear();
    append_recalled(frames, 9);
    BOOST_TEST(std::get<recalled_message>(received(frames)).id == 9u);
    frames.clear();
    append_release(frames, {3, 4096});
    BOOST_TEST((std::get<release_message>(received(frames)).place == region_place{3, 4096}));
    frames.clear();
    append_ready(frames);
    BOOST_TEST(std::holds_alternative<ready_message>(received(frames)));
}

BOOST_AUTO_TEST_CASE(results_and_chunks) {
    const std::vector<blob> attachments{blob::copy_of(std::as_bytes(std::span("abc", 3))), blob()};
    std::string frames;
    append_answer(frames, answer_kind::result, 7, {{"x", 1}}, attachments, {});
    auto message = received(frames, attachments);
    const auto& result = std::get<result_message>(message);
    BOOST_TEST(result.id == 7u);
    BOOST_TEST(result.attachments.at(0).text() == "abc");
    BOOST_TEST(result.attachments.at(1).empty());
    frames.clear();
    const auto size = append_answer(frames, answer_kind::chunk, 8, "token", attachments, {});
    message = received(frames, attachments);
    const auto& chunk = std::get<chunk_message>(message);
    BOOST_TEST(chunk.value == "token");
    BOOST_TEST(chunk.bytes == size + 3);
}

BOOST_AUTO_TEST_CASE(attachments_with_places_are_not_in_the_frame) {
    const std::vector<blob> attachments{blob(std::vector<std::byte>(600)),
                                        blob::copy_of(std::as_bytes(std::span("abc", 3))),
                                        blob(std::vector<std::byte>(400))};
    const std::vector<region_place> places{{4, 96, true}, {}, {7, 8192}};
    worker_limits limits;
    limits.frame_bytes = 300; // which the places do not count for
    std::string frames;
    const auto size = append_answer(frames, answer_kind::chunk, 8, "token", {attachments, places}, limits);
    struct test_memory final : memory_source {
        blob open(const region_place& place, std::size_t bytes) override {
            opened.push_back(place);
            return blob(std::vector<std::byte>(bytes));
        }
        std::size_t begin_message() noexcept override { return limit; }

        std::vector<region_place> opened;
        std::size_t limit = 1000;
    } memory;
    auto message = received(frames, {attachments[1]}, limits, &memory);
    const auto& chunk = std::get<chunk_message>(message);
    BOOST_TEST(chunk.bytes == size + 1003);
    BOOST_TEST(chunk.attachments.at(0).size() == 600u);
    BOOST_TEST(chunk.attachments.at(1).text() == "abc");
    BOOST_TEST((memory.opened == std::vector<region_place>{places[0], places[2]}));
    memory.limit = 999;
    BOOST_CHECK_THROW(received(frames, {attachments[1]}, limits, &memory), protocol_violation);
    BOOST_CHECK_THROW(received(frames, {attachments[1]}, limits), protocol_violation);
    frames.clear();
    append_tool_call(frames, 1, 1, "f", json::object(), {attachments, places}, limits);
    memory.limit = 1000;
    message = received(frames, {attachments[1]}, limits, &memory);
    BOOST_TEST(std::get<tool_call_message>(message).attachments.at(2).size() == 400u);
}

BOOST_AUTO_TEST_CASE(a_host_has_memory_for_all_the_places_that_a_worker_may_name) {
    const std::vector<blob> attachments(50, blob(std::vector<std::byte>(1)));
    const std::vector<region_place> places(50, {~std::uint64_t(0), ~std::size_t(0), true});
    worker_limits limits;
    struct any_memory final : memory_source {
        blob open(const region_place&, std::size_t bytes) override {
            return blob(std::vector<std::byte>(bytes));
        }
        std::size_t begin_message() noexcept override { return 50; }
    } memory;
    std::size_t taken = 0;
    for (limits.tree_bytes = 4096; limits.tree_bytes < 32'768; limits.tree_bytes += 16) {
        std::string frames;
        try {
            append_answer(frames, answer_kind::result, 1, 1, {attachments, places}, limits);
        } catch (const too_large&) {
            continue;
        }
        ++taken;
        BOOST_CHECK_NO_THROW(received(frames, {}, limits, &memory));
    }
    BOOST_TEST(taken > 0u);
}

BOOST_AUTO_TEST_CASE(a_request_for_a_region) {
    std::string frames;
    append_region_request(frames, 4'194'304);
    BOOST_TEST(std::get<region_message>(received(frames)).bytes == 4'194'304u);
}

BOOST_AUTO_TEST_CASE(the_facts_of_a_node_go_with_an_answer) {
    node_answer facts;
    facts.worker = worker_id{std::string(64, 'p'), 4'000'000'000, ~std::uint64_t(0)};
    facts.attempts = most_attempts_at_node;
    facts.wait = std::chrono::hours(1000);
    const auto check = [&](const std::shared_ptr<const node_answer>& read) {
        BOOST_REQUIRE(read);
        BOOST_TEST((read->worker == facts.worker));
        BOOST_TEST(read->attempts == facts.attempts);
        BOOST_TEST((read->wait == facts.wait));
    };
    worker_limits limits;
    limits.tree_bytes = 1100; // hardly more than the facts
    std::string frames;
    append_answer(frames, answer_kind::result, 7, 1, {}, limits, &facts);
    check(std::get<result_message>(received(frames, {}, limits)).from_node);
    error_message said;
    said.type = "T";
    said.from_node = std::make_shared<const node_answer>(facts);
    frames.clear();
    append_error(frames, said, {});
    check(std::get<error_message>(received(frames)).from_node);
}

BOOST_AUTO_TEST_CASE(every_limit_is_kept) {
    worker_limits limits;
    limits.frame_bytes = 1000;
    limits.json_bytes = 500;
    limits.json_depth = 10;
    limits.attachments = 2;
    BOOST_TEST(fits(1, limits));
    BOOST_TEST(fits(json::value(std::string(400, 'x')), limits));
    BOOST_TEST(!fits(json::value(std::string(500, 'x')), limits));
    BOOST_TEST(fits(nested(9), limits));
    BOOST_TEST(!fits(nested(10), limits));
    BOOST_TEST(fits(1, limits, std::vector<blob>(2)));
    BOOST_TEST(!fits(1, limits, std::vector<blob>(3)));
    BOOST_TEST(fits(1, limits, {blob(std::vector<std::byte>(900))}));
    BOOST_TEST(!fits(1, limits, {blob(std::vector<std::byte>(960))}));
}

BOOST_AUTO_TEST_CASE(a_tool_call_has_a_limit_of_its_own) {
    worker_limits limits;
    limits.tool_call_bytes = 500;
    const auto fits_in_call = [&](std::size_t text, std::size_t attached) {
        std::string frames;
        const json::value args{{"a", std::string(text, 'x')}};
        const std::vector<blob> attachments{blob(std::vector<std::byte>(attached))};
        try {
            append_tool_call(frames, 1, 1, "f", args, attachments, limits);
        } catch (const too_large& problem) {
            BOOST_TEST(contains(problem.what(), "bytes in the frame of a tool call; the limit is 500"),
                       problem.what());
            BOOST_TEST(frames.empty());
            return false;
        }
        return true;
    };
    BOOST_TEST(fits_in_call(400, 1));
    BOOST_TEST(!fits_in_call(450, 1));
    BOOST_TEST(fits_in_call(1, 400));
    BOOST_TEST(!fits_in_call(1, 450));
    BOOST_TEST(fits(json::value(std::string(600, 'x')), limits)); // which is no tool call
}

BOOST_AUTO_TEST_CASE(a_hello_names_no_more_commands_than_it_has_room_for) {
    hello_message hello;
    hello.protocol = 1;
    hello.token = "t";
    hello.pid = 1;
    hello.health_check = "h";
    hello.commands.assign(10'000, std::string(20, '\1'));
    for (int i = 0; i < 10'000; ++i) {
        hello.batches[std::to_string(i)] = {32, {}};
    }
    std::string frames;
    append_hello(frames, hello, true);
    const auto message = received(frames);
    BOOST_TEST(std::get<hello_message>(message).commands.size() > 700u);
    BOOST_TEST(std::get<hello_message>(message).batches.size() > 300u);
    BOOST_TEST(frames.size() < longest_message);
}

// The worker reckons like the host, and with a little in hand: what it lets through, the host takes.
BOOST_AUTO_TEST_CASE(the_memory_of_the_host_is_kept_to) {
    json::array objects;
    for (int i = 0; i < 100; ++i) {
        objects.push_back({{"key", json::array()}, {"x", {1, "text", nullptr}}});
    }
    const json::value value = objects;
    bool fitted = false;
    for (std::size_t memory = 1000; memory < 100'000; memory += 500) {
        worker_limits limits;
        limits.tree_bytes = memory;
        const bool fits_now = fits(value, limits);
        BOOST_TEST(fits_now >= fitted);
        fitted = fits_now;
    }
    BOOST_TEST(fitted);
}

BOOST_AUTO_TEST_CASE(what_is_no_json) {
    BOOST_TEST(!fits("\xff", {}));
    BOOST_TEST(!fits(std::numeric_limits<double>::infinity(), {}));
}

BOOST_AUTO_TEST_CASE(errors) {
    error_message said;
    said.id = 9;
    said.type = "skep.Error";
    said.message = "not \xff text";
    said.code = "bad";
    said.data = {{"x", 1}};
    std::string frames;
    append_error(frames, said, {});
    auto message = received(frames);
    const auto& read = std::get<error_message>(message);
    BOOST_TEST(read.id == 9u);
    BOOST_TEST(read.message == "not \xEF\xBF\xBD text");
    BOOST_TEST(read.code == "bad");
    BOOST_TEST(read.data.at("x").as_int64() == 1);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_traceback_is_sent_as_far_as_it_fits) {
    error_message said;
    said.type = "ValueError";
    said.message = "bad";
    said.traceback = std::string(600'000, '\1') + "the end";
    for (const std::size_t most : {1'200, 5'000, 100'000, 10'000'000}) {
        worker_limits limits;
        limits.json_bytes = limits.frame_bytes = most;
        std::string frames;
        append_error(frames, said, limits);
        const auto message = received(frames, {}, limits);
        const auto& read = std::get<error_message>(message);
        BOOST_TEST(read.message == "bad");
        BOOST_TEST(read.traceback.ends_with("the end"));
        BOOST_TEST(read.traceback.size() <= longest_traceback);
    }
    said.code = "with_data";
    said.data = 1;
    std::string frames;
    append_error(frames, said, {});
    const auto message = received(frames);
    BOOST_TEST(std::get<error_message>(message).traceback.empty());
}

BOOST_AUTO_TEST_CASE(an_error_always_finds_something_to_say) {
    error_message said;
    said.type = std::string(1000, 't');
    said.message = std::string(100'000, '\1');
    said.code = "bad";
    said.data = json::string(100'000, 'x');
    for (const std::size_t most : {5'000, 10'000, 1'000'000}) {
        worker_limits limits;
        limits.json_bytes = limits.frame_bytes = limits.tree_bytes = most;
        std::string frames;
        append_error(frames, said, limits);
        const auto message = received(frames, {}, limits);
        const auto& read = std::get<error_message>(message);
        BOOST_TEST(read.type.starts_with("ttt"));
        BOOST_TEST(read.code == "bad");
        BOOST_TEST((read.data.is_string() || contains(read.message, "its data is left out")));
    }
    said.data = std::numeric_limits<double>::quiet_NaN();
    said.message = "short";
    std::string frames;
    append_error(frames, said, {});
    const auto message = received(frames);
    BOOST_TEST(
        contains(std::get<error_message>(message).message, "(its data is left out: it holds a number"));
}

BOOST_AUTO_TEST_SUITE_END()

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that keep the protocol, and try to keep the host's thread.

#include "support/asking_pool.hpp"

#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(floods)

namespace {

pool_config roomy_config(std::size_t workers, std::size_t capacity) {
    auto config = fake_config(workers);
    config.capacity = capacity;
    return config;
}

/// So many empty lists, which cost the host much.
json::array dense(std::size_t count) {
    json::array lists;
    for (std::size_t i = 0; i < count; ++i) {
        lists.emplace_back(json::array());
    }
    return lists;
}

/// A frame that a worker's next write is a part of.
std::string frame_of(const json::object& message) {
    std::string frame;
    begin_frame(frame);
    frame += json::serialize(message);
    end_frame(frame, 0, frame.size());
    return frame;
}

json::object result_of(std::uint64_t id, json::value value) {
    return {{"type", "result"}, {"id", id}, {"value", std::move(value)}};
}

json::object dense_progress_of(std::uint64_t id, std::size_t count) {
    return {{"type", "progress"}, {"id", id}, {"fraction", 0.5}, {"moon", dense(count)}};
}

/// Runs the pool's handlers one by one; returns how many it took until `is_done()`.
template <class Condition>
int handlers_until(manual_pool& pool, Condition is_done) {
    for (int count = 0; count < 10'000; ++count) {
        if (is_done()) {
            return count;
        }
        pool.context.restart();
        pool.context.poll_one();
    }
    BOOST_FAIL("it does not come to that");
    return 0;
}

void expect_end_for(manual_pool& pool, const std::shared_ptr<manual_pool::outcome<reply>>& call,
                    const std::string& words) {
    pool.run_until_idle();
    BOOST_TEST((call->code() == errc::worker_lost));
    check_mentions(call->text(), words);
}

} // namespace

BOOST_AUTO_TEST_CASE(while_a_large_answer_is_read_others_have_their_turns) {
    running_pool pool(roomy_config(2, 1));
    const auto large = pool.execute(request("large"));
    const auto small = pool.execute(request("small"));
    const auto large_id = pool.worker(0).take_call();
    const auto small_id = pool.worker(1).take_call();
    pool.worker(0).reply(large_id, dense(50'000)); // of 150 KB
    pool.context.restart();
    pool.context.poll_one(); // which begins with it
    pool.worker(1).reply(small_id, 1);
    const auto first = handlers_until(pool, [&] { return small->done; });
    BOOST_TEST(!large->done);
    const auto then = handlers_until(pool, [&] { return large->done; });
    BOOST_TEST(first + then > 12); // steps
    BOOST_TEST(large->value->value.as_array().size() == 50'000u);
}

BOOST_AUTO_TEST_CASE(what_comes_behind_a_large_answer_stays_behind_it) {
    running_pool pool(roomy_config(1, 2));
    const auto large = pool.execute(request("large"));
    const auto small = pool.execute(request("small"));
    auto calls = pool.worker(0).take_calls();
    pool.worker(0).send_raw(frame_of(result_of(id_of(calls.at(0)), dense(40'000))) +
                            frame_of(result_of(id_of(calls.at(1)), 2)));
    handlers_until(pool, [&] {
        BOOST_TEST((large->done || !small->done));
        return small->done;
    });
    BOOST_TEST(small->value->value == json::value(2));
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_behind_a_large_answer_has_given_it) {
    running_pool pool(roomy_config(1, 2));
    const auto large = pool.execute(request("large"));
    const auto lost = pool.execute(request("lost"));
    auto calls = pool.worker(0).take_calls();
    pool.worker(0).reply(id_of(calls.at(0)), dense(50'000));
    pool.worker(0).exit(exit_3);
    pool.run_until_idle();
    BOOST_REQUIRE(large->done);
    BOOST_TEST(large->value->value.as_array().size() == 50'000u);
    BOOST_TEST((lost->code() == errc::worker_lost));
}

BOOST_AUTO_TEST_CASE(a_shutdown_in_the_middle_of_a_large_answer_ends) {
    auto config = roomy_config(1, 1);
    config.stop.drain_timeout = 0s;
    running_pool pool(config);
    pool.execute(request("large"));
    pool.worker(0).reply(pool.worker(0).take_call(), dense(50'000));
    pool.context.restart();
    pool.context.poll_one();
    const auto report = pool.shutdown();
    pool.worker(0).exit(exit_3);
    pool.advance(10s);
    BOOST_TEST(report->done);
}

BOOST_AUTO_TEST_CASE(a_large_answer_that_is_no_json_ends_its_worker) {
    running_pool pool(roomy_config(1, 1));
    const auto call = pool.execute(request("x"));
    auto frame = frame_of(result_of(pool.worker(0).take_call(), json::string(100'000, 'x')));
    frame.at(90'000) = '\x01';
    pool.worker(0).send_raw(frame);
    expect_end_for(pool, call, "bad JSON");
}

BOOST_AUTO_TEST_CASE(a_message_that_nobody_has_asked_for_has_a_limit_of_its_own) {
    for (const std::size_t size : {100'000u, 131'000u, 132'000u}) {
        running_pool pool(roomy_config(1, 1));
        const auto call = pool.execute(request("x"));
        const auto id = pool.worker(0).take_call();
        pool.worker(0).send_data(
            {{"moon", std::string(size, 'x')}, {"id", id}, {"fraction", 0.5}, {"type", "progress"}});
        if (size > 131'072) {
            expect_end_for(pool, call, "a 'progress' message of 132");
            check_mentions(call->text(), "bytes exceeds the limit of 131072");
        } else {
            pool.worker(0).reply(id, 1);
            pool.run_until_idle();
            BOOST_TEST(call->value.has_value());
        }
    }
}

BOOST_AUTO_TEST_CASE(a_tool_call_has_the_limit_that_is_configured) {
    for (const std::size_t size : {900u, 2000u}) {
        auto config = roomy_config(1, 1);
        config.limits.tool_call_bytes = 1024;
        running_pool pool(config);
        const auto call = pool.execute(request("x"));
        const auto id = pool.worker(0).take_call();
        pool.worker(0).send_data({{"type", "tool_call"},
                                  {"id", id},
                                  {"tool_call", 1},
                                  {"name", "f"},
                                  {"args", {{"a", std::string(size, 'x')}}}});
        if (size > 1024) {
            expect_end_for(pool, call, "exceeds the limit of 1024; see limits.tool_call_bytes");
        } else {
            pool.worker(0).reply(id, 1);
            pool.run_until_idle();
            BOOST_TEST(call->value.has_value());
        }
    }
}

BOOST_AUTO_TEST_CASE(a_flood_of_progress_is_paused_and_what_comes_behind_it_waits) {
    running_pool pool(roomy_config(1, 1));
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    std::string flood;
    for (int i = 0; i < 20; ++i) { // each costs 2.3 ms
        flood += frame_of(dense_progress_of(id, 4'000));
    }
    pool.worker(0).send_raw(flood.substr(0, 100'000));
    pool.run_until_idle();
    pool.worker(0).send_raw(flood.substr(100'000) + frame_of(result_of(id, 1)));
    pool.run_until_idle();
    BOOST_TEST(!call->done);
    pool.advance(300ms);
    BOOST_TEST(!call->done);
    pool.advance(3s);
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_that_trickles_in_is_paused) {
    running_pool pool(roomy_config(1, 1));
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    for (const char byte : frame_of(result_of(id, json::string(8'050, 'x')))) { // 5 us each, of 40 ms
        pool.worker(0).send_raw({&byte, 1});
        pool.run_until_idle();
    }
    BOOST_TEST(!call->done);
    pool.advance(1s);
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_flood_over_one_channel_does_not_hold_up_the_other) {
    running_pool pool(roomy_config(1, 1));
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    for (int i = 0; i < 20; ++i) { // of which the last ones wait
        pool.worker(0).send_control(
            {{"type", "log"}, {"level", "debug"}, {"text", "x"}, {"moon", dense(4'000)}});
        pool.run_until_idle();
    }
    pool.worker(0).reply(id, 1);
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_flooding_worker_misses_no_ping_while_the_host_does_not_read) {
    auto config = roomy_config(1, 1);
    config.heartbeat.interval = 100ms;
    config.heartbeat.timeout = 100ms;
    config.heartbeat.misses = 1;
    running_pool pool(config);
    for (int i = 0; i < 20; ++i) { // reading them takes 440 ms
        pool.worker(0).send_control(
            {{"type", "log"}, {"level", "debug"}, {"text", "x"}, {"moon", dense(4'000)}});
        pool.run_until_idle();
    }
    for (int i = 0; i < 40; ++i) {
        pool.advance(20ms);
        pool.worker(0).answer_pings();
    }
    BOOST_TEST(pool.status().counters.missed_pings == 0u);
    BOOST_TEST(pool.status().counters.workers_lost == 0u);
}

BOOST_AUTO_TEST_CASE(a_flood_of_one_that_has_died_is_heard_out) {
    running_pool pool(roomy_config(1, 1));
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    std::string flood;
    for (int i = 0; i < 10; ++i) {
        flood += frame_of(dense_progress_of(id, 4'000));
    }
    pool.worker(0).send_raw(flood);
    pool.run_until_idle();
    pool.worker(0).send_raw(flood + frame_of(result_of(id, 1))); // which makes the host pause
    pool.run_until_idle();
    BOOST_TEST(!call->done);
    pool.worker(0).exit(exit_3);
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(answers_are_never_paused) {
    running_pool pool(roomy_config(1, 1));
    for (int i = 0; i < 50; ++i) {
        const auto call = pool.execute(request("x"));
        pool.worker(0).reply(pool.worker(0).take_call(), dense(20'000));
        pool.run_until_idle();
        BOOST_REQUIRE(call->done);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

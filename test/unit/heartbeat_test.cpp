// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// A pool of one worker that does not answer pings.
class mute_pool : public running_pool {
public:
    explicit mute_pool(pool_config config) : running_pool(std::move(config)) {
        worker(0).answers_pings = false;
    }
};

pool_config with_heartbeat(duration interval, duration timeout, int misses) {
    auto config = fake_config();
    config.heartbeat.interval = interval;
    config.heartbeat.timeout = timeout;
    config.heartbeat.misses = misses;
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(heartbeat)

BOOST_AUTO_TEST_CASE(pings_come_at_once_and_then_an_interval_apart) {
    mute_pool pool(fake_config());
    BOOST_TEST(pool.worker(0).take_controls("ping").size() == 1u);
    pool.advance(1990ms);
    BOOST_TEST(pool.worker(0).take_controls("ping").empty());
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).take_controls("ping").size() == 1u);
    pool.advance(6s);
    const auto pings = pool.worker(0).take_controls("ping");
    BOOST_REQUIRE_EQUAL(pings.size(), 3u);
    BOOST_TEST(pings[0].at("seq") == 3);
    BOOST_TEST(pings[2].at("seq") == 5);
}

BOOST_AUTO_TEST_CASE(the_worker_is_told_the_pace) {
    running_pool pool(with_heartbeat(3s, 7s, 2));
    const auto welcome = pool.worker(0).take_controls("welcome");
    BOOST_REQUIRE_EQUAL(welcome.size(), 1u);
    const auto& pace = welcome[0].at("heartbeat").as_object();
    BOOST_TEST(pace.at("enabled") == true);
    BOOST_TEST(pace.at("interval_ms") == 3000);
    BOOST_TEST(pace.at("timeout_ms") == 7000);
}

BOOST_AUTO_TEST_CASE(the_first_ping_waits_for_the_initial_delay) {
    auto config = fake_config();
    config.heartbeat.initial_delay = 5s;
    mute_pool pool(config);
    pool.advance(4990ms);
    BOOST_TEST(pool.worker(0).take_controls("ping").empty());
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).take_controls("ping").size() == 1u);
}

BOOST_AUTO_TEST_CASE(disabled_there_are_none) {
    auto config = fake_config();
    config.heartbeat.enabled = false;
    mute_pool pool(config);
    pool.advance(60s);
    BOOST_TEST(pool.worker(0).take_controls("ping").empty());
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.worker(0).take_controls("welcome").at(0).at("heartbeat").at("enabled") == false);
}

BOOST_AUTO_TEST_CASE(a_silent_worker_is_lost_after_the_timeout_and_the_other_misses) {
    struct row {
        duration interval, timeout;
        int misses;
    };
    const std::vector<row> table{{2s, 10s, 3},      {2s, 10s, 1},    {1s, 1s, 1}, {1s, 1s, 5},
                                 {500ms, 100ms, 2}, {1s, 2500ms, 2}, {3s, 1s, 2}, {100ms, 10s, 10}};
    for (const auto& [interval, timeout, misses] : table) {
        mute_pool pool(with_heartbeat(interval, timeout, misses));
        // Looked at once an interval, so a timeout that is no multiple of it is noticed at the next.
        const auto first_miss = interval * ((timeout + interval - 1ns) / interval);
        const auto lost = first_miss + interval * (misses - 1);
        BOOST_TEST_CONTEXT(interval / 1ms << " ms, " << timeout / 1ms << " ms, " << misses) {
            pool.advance(lost - 10ms);
            BOOST_TEST(pool.worker(0).terminations == 0);
            pool.advance(10ms);
            BOOST_TEST(pool.worker(0).terminations == 1);
            BOOST_TEST(pool.counters().missed_pings == static_cast<std::uint64_t>(misses));
        }
    }
}

BOOST_AUTO_TEST_CASE(one_miss_is_no_plural) {
    auto config = with_heartbeat(1s, 1s, 1);
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    const log_capture log;
    mute_pool pool(config);
    pool.advance(1s);
    BOOST_TEST(log.count("missed 1 ping so far") == 1, log.text());
    pool.advance(1s);
    BOOST_TEST(pool.status().workers[0].last_failure.starts_with("no answer to 1 ping,"));
}

BOOST_AUTO_TEST_CASE(the_initial_delay_comes_on_top) {
    auto config = fake_config();
    config.heartbeat.initial_delay = 5s;
    mute_pool pool(config);
    pool.advance(18990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(the_call_of_a_silent_worker_fails_and_the_error_names_the_pings) {
    mute_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    pool.advance(13990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "no answer to 3 pings");
    BOOST_TEST(to_string(call->info().worker.value_or(worker_id())) == "default/0#1");
}

BOOST_AUTO_TEST_CASE(its_caller_does_not_wait_for_its_end) {
    mute_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    const auto call = pool.execute(request("x"));
    pool.advance(14s);
    BOOST_TEST(call->done);
    BOOST_TEST(!pool.worker(0).has_exited());
}

BOOST_AUTO_TEST_CASE(an_idempotent_call_goes_to_another_worker) {
    running_pool pool(fake_config(2));
    pool.worker(0).answers_pings = false;
    const auto call = pool.execute(request("x").idempotent(true));
    pool.advance(14s);
    BOOST_TEST(pool.serve(1) == "x");
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->attempts == 2);
}

BOOST_AUTO_TEST_CASE(a_silent_worker_is_replaced) {
    mute_pool pool(fake_config());
    pool.warm_up();
    pool.advance(16s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.counters().workers_lost == 1u);
    check_mentions(pool.status().workers[0].last_failure, "no answer to 3 pings");
}

BOOST_AUTO_TEST_CASE(a_frozen_worker_does_not_get_away) {
    mute_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    pool.advance(14s);
    BOOST_TEST(pool.worker(0).kills == 0);
    pool.advance(2s);
    BOOST_TEST(pool.worker(0).has_exited());
    BOOST_TEST(pool.worker(0).kills > 0);
}

BOOST_AUTO_TEST_CASE(one_that_answers_is_never_lost) {
    running_pool pool(fake_config());
    pool.advance(10min, 500ms);
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.counters().missed_pings == 0u);
}

BOOST_AUTO_TEST_CASE(one_that_answers_every_third_ping_is_never_lost) {
    mute_pool pool(fake_config());
    for (int i = 0; i < 20; ++i) {
        pool.advance(6s, 100ms);
        pool.worker(0).answer_pings();
    }
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(an_answer_at_the_last_moment_saves_it) {
    mute_pool pool(fake_config());
    pool.advance(13990ms);
    BOOST_TEST(pool.counters().missed_pings == 2u);
    pool.worker(0).answer_pings();
    pool.advance(10s);
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_CASE(answers_to_calls_count_as_life) {
    mute_pool pool(fake_config());
    for (int i = 0; i < 10; ++i) {
        const auto call = pool.execute(request("x"));
        pool.advance(9s, 100ms);
        pool.serve();
        BOOST_TEST(call->value.has_value());
    }
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.counters().missed_pings == 0u);
}

BOOST_AUTO_TEST_CASE(any_bytes_count_as_life) {
    mute_pool pool(fake_config());
    const auto call = pool.execute(request("x").timeout(0s));
    std::string frame;
    const auto text = R"({"type":"result","id":1,"value":"a long answer, byte by byte"})";
    const auto begin = begin_frame(frame);
    frame += text;
    end_frame(frame, begin, frame.size());
    for (const char byte : frame) {
        BOOST_TEST(!call->done);
        pool.advance(9s, 500ms);
        pool.worker(0).send_raw({&byte, 1});
    }
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(independent_it_only_counts) {
    auto config = fake_config();
    config.heartbeat.dependent = false;
    mute_pool pool(config);
    const auto call = pool.execute(request("x").timeout(0s));
    pool.advance(60s);
    BOOST_TEST(!call->done);
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.counters().missed_pings == 26u); // one each tick from 10 s to 60 s
    pool.serve();
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(independent_it_goes_on_pinging) {
    auto config = fake_config();
    config.heartbeat.dependent = false;
    mute_pool pool(config);
    pool.advance(60s);
    BOOST_TEST(pool.worker(0).take_controls("ping").size() == 31u);
}

BOOST_AUTO_TEST_SUITE(host_stall)

BOOST_AUTO_TEST_CASE(a_stall_gives_the_worker_its_time_anew) {
    mute_pool pool(fake_config());
    pool.advance(13s);
    pool.advance(8s, 8s); // the host stands still
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(13990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(many_stalls_in_a_row_do_not_kill) {
    running_pool pool(fake_config());
    pool.worker(0).answers_pings = false;
    for (int i = 0; i < 10; ++i) {
        pool.advance(30s, 30s);
        pool.worker(0).answer_pings();
    }
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(a_tick_that_is_a_little_late_is_no_stall) {
    mute_pool pool(fake_config());
    pool.advance(13s);
    pool.advance(1900ms, 1900ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(answers_that_waited_in_the_socket_are_heard) {
    mute_pool pool(fake_config());
    pool.advance(13s);
    pool.worker(0).answer_pings();
    pool.time.advance(2s); // the answer and the third miss are noticed in the same turn
    pool.run_until_idle();
    pool.advance(9s);
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

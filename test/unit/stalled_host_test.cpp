// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A host whose own loop stands still, on virtual time: deadlines that it slept through say nothing about
// workers.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(stalled_host)

namespace {

pool_config quiet_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.heartbeat.enabled = false;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(workers_that_were_starting_get_their_time_anew) {
    auto config = quiet_config(6);
    config.start.timeout = 1s;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {};
    const auto started = pool.start();
    pool.advance(3s, 3s);
    for (const auto& each : pool.runtime().workers) {
        BOOST_TEST(each->terminations + each->kills == 0);
        each->shake_hands();
    }
    pool.advance(100ms);
    BOOST_TEST(started->value.has_value(), started->text());
    BOOST_TEST(pool.status().live == 6u);
}

BOOST_AUTO_TEST_CASE(one_that_hangs_is_given_up_all_the_same) {
    auto config = quiet_config();
    config.start.timeout = 1s;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {};
    const auto started = pool.start();
    pool.advance(3s, 3s);
    pool.advance(2s);
    BOOST_TEST(started->code() == errc::start_failed);
    check_mentions(started->text(), "did not say hello in time");
}

BOOST_AUTO_TEST_CASE(a_probe_that_was_answered_meanwhile_has_not_failed) {
    auto config = quiet_config();
    config.health_check.interval = 10s;
    config.health_check.timeout = 1s;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.has_health_check = true;
        fresh.shake_hands();
    };
    const auto started = pool.start();
    BOOST_REQUIRE(started->value);
    pool.advance(10100ms);
    const auto probes = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(probes.size(), 1u);
    pool.time.advance(5s);
    pool.run_until_idle(); // the timer may be seen before the answer
    pool.worker(0).reply(id_of(probes[0]));
    pool.run_until_idle();
    BOOST_TEST(to_string(pool.worker_status_of(0).health) == "healthy");
    BOOST_TEST(to_string(pool.worker_status_of(0).state) == "ready");
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_gets_its_grace_anew) {
    auto config = quiet_config();
    config.cancel_grace = 1s;
    running_pool pool(config);
    const auto call = pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(1100ms);
    BOOST_TEST(call->code() == errc::timeout);
    pool.advance(5s, 5s);
    BOOST_TEST(pool.worker(0).terminations + pool.worker(0).kills == 0);
    pool.worker(0).fail(id, "skep.Cancelled", "");
    pool.advance(2s);
    BOOST_TEST(pool.worker(0).terminations + pool.worker(0).kills == 0);
}

BOOST_AUTO_TEST_CASE(a_worker_that_was_asked_to_stop_gets_its_time_anew) {
    auto config = quiet_config();
    config.stop.shutdown_grace = 1s;
    running_pool pool(config);
    const auto ended = pool.shutdown();
    pool.advance(5s, 5s);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.worker(0).exit(exit_status::exited(0));
    pool.advance(1s);
    BOOST_REQUIRE(ended->value);
    BOOST_TEST((ended->value->workers.front().stage() == stop_stage::ask));
}

BOOST_AUTO_TEST_CASE(a_host_that_always_looks_late_still_gets_done) {
    auto config = quiet_config();
    config.stop.shutdown_grace = 1s;
    config.stop.term_grace = 2s;
    running_pool pool(config);
    pool.worker(0).obeys_terminate = false;
    const auto ended = pool.shutdown();
    pool.advance(30s, 1700ms);
    BOOST_REQUIRE(ended->value);
    BOOST_TEST((ended->value->workers.front().stage() == stop_stage::kill));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

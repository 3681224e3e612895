// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What happens between the failure of a worker and its end, on virtual time.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(last_moments)

namespace {

/// One that has closed its data channel and lives on.
void break_down(manual_pool& pool) {
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).close_data();
    pool.run_until_idle();
}

} // namespace

BOOST_AUTO_TEST_CASE(what_a_lost_worker_still_says_is_not_held_against_it) {
    auto config = fake_config();
    config.capacity = 2;
    config.health_check.failures = 1;
    config.heartbeat.interval = 100ms;
    config.heartbeat.timeout = 300ms;
    config.heartbeat.misses = 1;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.stack_signal = SIGUSR2;
        fresh.shake_hands();
    };
    pool.start();
    const auto first = pool.execute(request("first"));
    const auto second = pool.execute(request("second"));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 2u);
    pool.worker(0).answers_pings = false;
    while (pool.worker(0).signals.empty()) { // until it is asked for its stacks
        pool.advance(10ms);
    }
    for (const auto& call : calls) {
        pool.worker(0).fail(id_of(call), "MemoryError", "thawed");
    }
    pool.advance(10s);
    BOOST_TEST(first->code() == errc::remote_error);
    BOOST_TEST(second->code() == errc::remote_error);
    BOOST_TEST(pool.counters().unhealthy_workers_terminated == 0u);
    BOOST_TEST(pool.counters().workers_lost == 1u);
    BOOST_TEST(pool.counters().workers_replaced == 0u);
}

BOOST_AUTO_TEST_CASE(the_stacks_of_a_frozen_worker_are_the_last_ones) {
    auto config = fake_config();
    config.heartbeat.interval = 100ms;
    config.heartbeat.timeout = 300ms;
    config.heartbeat.misses = 1;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.stack_signal = SIGUSR2;
        fresh.shake_hands();
    };
    pool.start();
    const auto call = pool.execute(request("work"));
    const std::string head = "Thread 0x01 (most recent call first):\n  File \"worker.py\", line ";
    auto& worker = pool.worker(0);
    worker.last_words = head + "1 in as_read_on_demand\n";
    worker.answers_pings = false;
    while (worker.signals.empty()) { // until it is asked for its stacks
        pool.advance(10ms);
    }
    worker.last_words += head + "2 in frozen\n";
    pool.advance(10s);
    BOOST_TEST(call->code() == errc::worker_lost);
    BOOST_TEST(call->info().stacks == head + "2 in frozen\n");
}

BOOST_AUTO_TEST_CASE(shutdown_does_not_ask_what_is_broken) {
    running_pool pool(fake_config());
    break_down(pool);
    const auto down = pool.shutdown();
    pool.advance(10s);
    BOOST_TEST(pool.worker(0).take_controls("shutdown").empty());
    BOOST_REQUIRE(down->value);
    BOOST_REQUIRE_EQUAL(down->value->workers.size(), 1u);
    BOOST_TEST((down->value->workers[0].stages.at(0).stage == stop_stage::terminate));
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(calls_do_not_wait_for_the_end_of_the_last_worker) {
    auto config = fake_config();
    config.stop.drain_timeout = 1h;
    running_pool pool(config);
    pool.execute(request("running"));
    const auto waiting = pool.execute(request("waiting").queue_timeout(1h));
    pool.shutdown();
    BOOST_TEST(!waiting->done);
    break_down(pool);
    BOOST_TEST(waiting->code() == errc::shutting_down);
    BOOST_TEST(!pool.worker(0).has_exited());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

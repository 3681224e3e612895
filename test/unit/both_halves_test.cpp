// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The log has the end of a trouble as well as its beginning, and the workers that a slow operation waits for.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(both_halves)

namespace {

pool_config logging_config(log_level level = log_level::info) {
    auto config = fake_config(1);
    config.heartbeat.enabled = false;
    config.health_check.enabled = false;
    config.log_level = level;
    config.log_handler = capturing_handler();
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(suspended_and_resumed) {
    const log_capture log;
    running_pool pool(logging_config());
    pool.begin(pool.facade().suspend());
    BOOST_TEST(log.count("default/0#1 is suspended") == 1, log.text());
    BOOST_TEST(log.count("is resumed") == 0, log.text());
    pool.begin(pool.facade().resume());
    BOOST_TEST(log.count("default/0#1 is resumed") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(degraded_and_restored) {
    auto config = logging_config();
    config.health_check.enabled = true;
    bool is_well = false;
    config.health_check.probe = [&is_well](worker_id, pid_t) -> asio::awaitable<void> {
        if (!is_well) {
            throw std::runtime_error("no GPU");
        }
        co_return;
    };
    const log_capture log;
    running_pool pool(config);
    pool.advance(config.health_check.interval, 1s);
    BOOST_TEST(log.count("default/0#1 is degraded: ") == 1, log.text());
    BOOST_TEST(log.count("is restored") == 0, log.text());
    is_well = true;
    pool.advance(config.health_check.interval, 1s);
    BOOST_TEST(log.count("default/0#1 is restored: it passed its health check") == 1, log.text());
    pool.advance(2 * config.health_check.interval, 1s);
    BOOST_TEST(log.count("is restored") == 1, log.text()); // a worker that stays well is no news
}

BOOST_AUTO_TEST_CASE(unavailable_and_available) {
    auto config = logging_config();
    config.restart.limit = 2;
    config.restart.open_time = 10s;
    const log_capture log;
    running_pool pool(config);
    pool.warm_up();
    bool is_broken = true;
    pool.runtime().on_start = [&](fake_worker& fresh) {
        if (is_broken) {
            fresh.exit(exit_3);
        } else {
            fresh.shake_hands();
        }
    };
    crash_worker(pool, 0);
    pool.advance(5s);
    BOOST_TEST(log.count("the pool is unavailable: ") == 1, log.text());
    is_broken = false;
    pool.advance(30s);
    BOOST_TEST(log.count("the pool is available again") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(unavailable_for_a_worker_that_has_not_ended_yet) {
    auto config = logging_config();
    config.workers = 2;
    config.restart.limit = 1;
    config.recycle.hard_memory = 100u << 20;
    const log_capture log;
    running_pool pool(config);
    pool.worker(0).resident = pool.worker(1).resident = 101u << 20;
    pool.advance(config.recycle.memory_interval);
    const auto text =
        "the pool is unavailable: the last failure was: the worker was lost: it holds 105906176 bytes";
    BOOST_TEST(log.count(text) == 1, log.text());
}

BOOST_AUTO_TEST_CASE(a_lost_worker_names_its_calls_and_shows_where_it_crashed) {
    auto config = logging_config();
    config.capacity = 20;
    const log_capture log;
    running_pool pool(config);
    pool.worker(0).last_words = "loading\nFatal Python error: Aborted\n\nCurrent thread 0x7f (most recent "
                                "call first):\n  File \"w.py\", line 7 in f\n";
    for (int i = 0; i < 18; ++i) {
        pool.execute(request("work").correlation_id("id-" + std::to_string(i)));
    }
    crash_worker(pool, 0);
    const auto text = "default/0#1 failed, exit code 3: its process ended; its calls: 'work' [id-0], 'work' "
                      "[id-1], ";
    BOOST_TEST(log.count(text) == 1, log.text());
    BOOST_TEST(log.count(", 'work' [id-15] and 2 more\\nFatal Python error: Aborted\\n") == 1, log.text());
    BOOST_TEST(log.count("line 7 in f") == 1, log.text());
    BOOST_TEST(log.count("loading") == 0, log.text());
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_to_be_replaced_for_a_call_names_that_call) {
    const log_capture log;
    running_pool pool(logging_config());
    pool.execute(request("hang").timeout(1s).correlation_id("id"));
    pool.advance(20s, 100ms);
    const auto text =
        "default/0#1 is replaced: it is still at a call given up cancel_grace ago; its calls: 'hang' [id]";
    BOOST_TEST(log.count(text) == 1, log.text());
    BOOST_TEST(log.count("default/0#1 killed, signal 15 (Terminated); its calls: 'hang' [id]") +
                       log.count("default/0#1 stopped, signal 15 (Terminated); its calls: 'hang' [id]") ==
                   1,
               log.text());
}

BOOST_AUTO_TEST_CASE(a_lost_worker_without_calls_says_nothing_of_calls) {
    const log_capture log;
    running_pool pool(logging_config());
    pool.warm_up();
    crash_worker(pool, 0);
    BOOST_TEST(log.count("default/0#1 failed, exit code 3: its process ended") == 1, log.text());
    BOOST_TEST(log.count("its calls") == 0, log.text());
}

BOOST_AUTO_TEST_CASE(a_shutdown_tells_the_state_of_the_pool) {
    const log_capture log;
    running_pool pool(logging_config(log_level::debug));
    const auto running = pool.execute(request("x"));
    const auto waiting = pool.execute(request("y"));
    const auto waiter = pool.begin(pool.facade().ready(2));
    pool.shutdown();
    BOOST_TEST(
        log.count("shutdown: initialised yes, workers 1 of 1, available 0, busy 1, queued 1, waiters 1") == 1,
        log.text());
}

BOOST_AUTO_TEST_CASE(it_names_who_keeps_it_waiting) {
    auto config = logging_config();
    config.stop.drain_timeout = 12s;
    const log_capture log;
    running_pool pool(config);
    const auto running = pool.execute(request("slow"));
    pool.shutdown();
    pool.advance(900ms, 100ms);
    BOOST_TEST(log.count("shutdown has taken") == 0, log.text());
    pool.advance(200ms, 100ms);
    BOOST_TEST(
        log.count("shutdown has taken 1 s; 1 calls run, 0 wait; waiting for default/0#1 (busy, pid ") == 1,
        log.text());
    BOOST_TEST(log.count(", at slow)") == 1, log.text());
    pool.advance(4s, 100ms);
    BOOST_TEST(log.count("shutdown has taken") == 1, log.text());
    pool.advance(1s, 100ms);
    BOOST_TEST(log.count("shutdown has taken 6 s") == 1, log.text());
    pool.advance(30s, 1s);
    const auto told = log.count("shutdown has taken");
    pool.advance(30s, 1s);
    BOOST_TEST(log.count("shutdown has taken") == told, log.text());
}

BOOST_AUTO_TEST_CASE(a_start_names_the_workers_that_it_waits_for) {
    auto config = logging_config();
    config.workers = 3;
    config.min_ready = 3;
    const log_capture log;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) {
        if (fresh.order().worker.slot == 0) {
            fresh.shake_hands();
        } else if (fresh.order().worker.slot == 1) {
            fresh.send_data(fresh.hello());
        }
    };
    const auto started = pool.start();
    pool.advance(900ms, 100ms);
    BOOST_TEST(log.count("start has taken") == 0, log.text());
    pool.advance(200ms, 100ms);
    BOOST_TEST(log.count("start has taken 1 s; 1 of 3 workers are up, 3 needed; waiting for default/1#1 "
                         "(starting for 1 s, pid ") == 1,
               log.text());
    BOOST_TEST(log.count(": on_start runs), default/2#1 (starting for 1 s, pid ") == 1, log.text());
    BOOST_TEST(log.count(": has not said hello yet)") == 1, log.text());
    pool.advance(5s, 100ms);
    BOOST_TEST(log.count("start has taken") == 2, log.text());
    BOOST_TEST(log.count("start has taken 6 s; ") == 1, log.text());
    pool.worker(2).shake_hands();
    pool.worker(1).send_data({{"type", "ready"}});
    pool.advance(30s, 1s);
    BOOST_TEST(started->done);
    BOOST_TEST(log.count("start has taken") == 2, log.text());
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_says_nothing_afterwards) {
    auto config = logging_config();
    config.start.timeout = 3s;
    const log_capture log;
    manual_pool pool(config);
    pool.runtime().on_start = never_ready;
    const auto started = pool.start();
    pool.advance(60s, 1s);
    BOOST_TEST((started->code() == errc::start_failed));
    BOOST_TEST(log.count("start has taken") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(of_a_shutdown_during_the_start_only_the_shutdown_speaks) {
    auto config = logging_config();
    config.start.timeout = 30s;
    const log_capture log;
    manual_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.obeys_terminate = false; };
    pool.start();
    pool.advance(100ms);
    pool.shutdown();
    pool.advance(1100ms, 100ms);
    BOOST_TEST(log.count("start has taken") == 0, log.text());
    BOOST_TEST(
        log.count("shutdown has taken 1 s; 0 calls run, 0 wait; waiting for default/0#1 (stopping, pid ") ==
            1,
        log.text());
    pool.advance(30s, 1s);
}

BOOST_AUTO_TEST_CASE(a_suspension_names_the_workers_that_it_waits_for) {
    auto config = logging_config();
    config.workers = 2;
    config.min_ready = 2;
    const log_capture log;
    running_pool pool(config);
    const auto running = pool.execute(request("slow").timeout(1h));
    const auto suspended = pool.begin(pool.facade().suspend());
    pool.advance(1s, 100ms);
    BOOST_TEST(log.count("suspend has taken 1 s; waiting for default/0#1 (busy, pid ") == 1, log.text());
    BOOST_TEST(log.count(", at slow)\n") == 1, log.text());
    pool.advance(5s, 100ms);
    BOOST_TEST(log.count("suspend has taken 6 s") == 1, log.text());
    pool.worker(0).answer_call();
    pool.advance(30s, 1s);
    BOOST_TEST(suspended->done);
    BOOST_TEST(log.count("suspend has taken") == 2, log.text());
}

BOOST_AUTO_TEST_CASE(a_suspension_that_nobody_waits_for_any_more_says_nothing) {
    const log_capture log;
    running_pool pool(logging_config());
    const auto running = pool.execute(request("slow").timeout(1h));
    const auto suspended = pool.begin(pool.facade().suspend({"default", 0, 1}));
    pool.advance(1s, 100ms);
    BOOST_TEST(log.count("suspend has taken 1 s; waiting for default/0#1 (") == 1, log.text());
    suspended->cancel.emit(asio::cancellation_type::terminal);
    pool.advance(30s, 1s);
    BOOST_TEST((suspended->code() == errc::cancelled));
    BOOST_TEST(log.count("suspend has taken") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(a_restart_names_old_and_new_workers) {
    auto config = logging_config();
    config.workers = 2;
    config.min_ready = 2;
    const log_capture log;
    running_pool pool(config);
    pool.runtime().on_start = never_ready;
    const auto restarted = pool.begin(pool.facade().rolling_restart());
    pool.advance(1s, 100ms);
    BOOST_TEST(log.count("rolling_restart has taken 1 s; waiting for default/0#1 (ready, pid ") == 1,
               log.text());
    BOOST_TEST(log.count(", default/0#2 (starting for 1 s, pid ") == 1, log.text());
    BOOST_TEST(log.count("), default/1#1 (ready, pid ") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(a_slot_that_waits_out_its_backoff_keeps_no_shutdown_waiting) {
    auto config = logging_config();
    config.workers = 2;
    config.stop.drain_timeout = 12s;
    const log_capture log;
    running_pool pool(config);
    const auto running = pool.execute(request("slow"));
    crash_worker(pool, 1);
    BOOST_TEST((pool.worker_status_of(1).state == worker_state::pending));
    pool.shutdown();
    pool.advance(1100ms, 100ms);
    BOOST_TEST(log.count("; waiting for default/0#1 (busy, pid ") == 1, log.text());
    BOOST_TEST(log.count(", at slow)") == 1, log.text());
    BOOST_TEST(log.count(", default/1#") == 0, log.text());
}

BOOST_AUTO_TEST_CASE(a_planned_end_is_no_warning) {
    const log_capture log;
    running_pool pool(logging_config(log_level::warning));
    pool.warm_up();
    pool.shutdown();
    pool.advance(20s);
    BOOST_TEST(log.text() == "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

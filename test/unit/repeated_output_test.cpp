// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Output of starting workers in the log of a pool.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <utility>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(repeated_output)

namespace {

pool_config logging_config(std::size_t workers) {
    auto config = fake_config(workers);
    config.heartbeat.enabled = false;
    config.health_check.enabled = false;
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    return config;
}

void print_traceback(manual_pool& pool, const fake_worker& printer,
                     const char* last = "ModuleNotFoundError") {
    for (const auto* const each : {"Traceback", "  import torch", last}) {
        pool.runtime().print({printer.order().worker, true, each});
    }
}

/// Lets each new worker act once the pool knows it.
template <class Act>
void on_launch(manual_pool& pool, Act act) {
    pool.runtime().on_start = [&pool, act](fake_worker& fresh) {
        asio::post(pool.context, [act, &fresh] { act(fresh); });
    };
}

/// Workers that lack a module.
void break_workers(manual_pool& pool) {
    on_launch(pool, [&pool](fake_worker& fresh) {
        print_traceback(pool, fresh);
        fresh.exit(exit_3);
    });
}

} // namespace

BOOST_AUTO_TEST_CASE(sixteen_workers_with_one_traceback_log_it_once) {
    const log_capture log;
    manual_pool pool(logging_config(16));
    break_workers(pool);
    const auto started = pool.start();
    pool.advance(30s, 100ms);
    BOOST_TEST((started->code() == errc::start_failed));
    BOOST_TEST(pool.launched() == 16);
    BOOST_TEST(log.count("ModuleNotFoundError") == 1, log.text());
    BOOST_TEST(log.count("default/0#1 failed, ") == 1, log.text());
    BOOST_TEST(log.count("lines of output not logged again: 3, as printed by default/0#1") == 15, log.text());
}

BOOST_AUTO_TEST_CASE(workers_that_are_tried_again_log_it_once_in_ten_minutes) {
    auto config = logging_config(2);
    config.restart.limit = 1'000'000;
    config.restart.max_backoff = 10s;
    const log_capture log;
    running_pool pool(config);
    break_workers(pool);
    crash_worker(pool, 0);
    pool.advance(9min, 1s);
    BOOST_TEST(pool.launched() > 20);
    BOOST_TEST(log.count("ModuleNotFoundError") == 1, log.text());
    pool.advance(5min, 1s);
    BOOST_TEST(log.count("ModuleNotFoundError") == 2, log.text());
}

BOOST_AUTO_TEST_CASE(a_start_that_is_tried_again_does_not_repeat_the_output) {
    const log_capture log;
    pool_membership of_manager;
    of_manager.starts_again = true;
    manual_pool pool(logging_config(1), std::move(of_manager));
    on_launch(pool, [&pool](fake_worker& fresh) {
        print_traceback(pool, fresh);
        fresh.last_words = "ModuleNotFoundError";
        fresh.exit(exit_3);
    });
    pool.start();
    pool.advance(30s, 1s);
    BOOST_TEST(log.count("the start is tried again in ") > 3, log.text());
    BOOST_TEST(log.count("ModuleNotFoundError") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(workers_that_come_up_have_their_output_logged) {
    const log_capture log;
    manual_pool pool(logging_config(2));
    on_launch(pool, [&pool](fake_worker& fresh) {
        pool.runtime().print({fresh.order().worker, false, "model loaded"});
        fresh.shake_hands();
    });
    pool.start();
    pool.advance(1s, 100ms);
    BOOST_TEST(log.count("default/0#1 stdout: model loaded") == 1, log.text());
    BOOST_TEST(log.count("default/1#1 stdout: model loaded") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(workers_in_service_repeat_themselves) {
    const log_capture log;
    running_pool pool(logging_config(2));
    for (int i = 0; i < 3; ++i) {
        print_traceback(pool, pool.worker(0));
        print_traceback(pool, pool.worker(1));
    }
    pool.run_until_idle();
    BOOST_TEST(log.count("ModuleNotFoundError") == 6, log.text());
}

BOOST_AUTO_TEST_CASE(a_different_traceback_is_logged_from_its_beginning) {
    const log_capture log;
    auto config = logging_config(2);
    config.min_ready = 2;
    manual_pool pool(config);
    on_launch(pool, [&pool](fake_worker& fresh) {
        print_traceback(pool, fresh, fresh.order().worker.slot == 0 ? "ModuleNotFoundError" : "OSError");
        fresh.exit(exit_3);
    });
    pool.start();
    pool.advance(30s, 100ms);
    BOOST_TEST(log.count("default/1#1 stderr: Traceback") == 1, log.text());
    BOOST_TEST(log.count("default/1#1 stderr: OSError") == 1, log.text());
    BOOST_TEST(log.count("not logged again") == 0, log.text());
}

BOOST_AUTO_TEST_CASE(a_handler_of_output_gets_every_line) {
    auto config = logging_config(16);
    int lines = 0;
    config.output.handler = [&lines](const output_line&) { ++lines; };
    manual_pool pool(config);
    break_workers(pool);
    pool.start();
    pool.advance(30s, 100ms);
    BOOST_TEST(lines == 3 * 16);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

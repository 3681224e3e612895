// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/run.hpp"

#include <atomic>

namespace skep::test {

namespace {

struct failure_tally {
    std::atomic<int> open{0};
    std::atomic<int> refused{0};
    std::atomic<int> other{0};
};

/// Counts how an operation ends that is to fail with `code`, and looks at its error, of which others may have
/// copies.
asio::awaitable<void> fail_with(errc code, asio::awaitable<void> operation, failure_tally& results) {
    try {
        co_await std::move(operation);
        ++results.other;
    } catch (const error& e) {
        const error kept = e;
        ++(kept.code() == code && kept.what() == std::string(e.what()) ? results.refused : results.other);
    }
}

/// Starts one pool after another that cannot be started: the launch fails on the spawner thread, the caller
/// gets to know on whichever thread runs it, and both let go of what was told.
asio::awaitable<void> fail_in_a_row(asio::io_context& context, int times, failure_tally& results) {
    for (int i = 0; i < times; ++i) {
        auto config = basic_pool(2);
        config.launch.program = "/nonexistent/worker";
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        co_await fail_with(errc::start_failed, std::move(starting), results);
        co_await workers.shutdown();
    }
    --results.open;
}

/// The worker is at a call that does not end before the shutdown does.
asio::awaitable<void> suspend_in_vain(pool& workers, failure_tally& results) {
    auto suspending = workers.suspend();
    co_await fail_with(errc::shutting_down, std::move(suspending), results);
    --results.open;
}

} // namespace

BOOST_AUTO_TEST_SUITE(failure_suite)

BOOST_AUTO_TEST_CASE(failed_launches_reach_callers_on_every_thread) {
    constexpr int callers = 8;
    constexpr int times = 100;
    failure_tally results;
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            for (int i = 0; i < callers; ++i) {
                ++results.open;
                asio::co_spawn(context, fail_in_a_row(context, times, results),
                               [&](std::exception_ptr e) { results.other += e ? 1 : 0; });
            }
            while (results.open > 0) {
                co_await pause(10ms);
            }
        },
        4);
    BOOST_TEST(results.refused == callers * times);
    BOOST_TEST(results.other == 0);
}

BOOST_AUTO_TEST_CASE(callers_that_wait_for_the_same_get_an_error_each) {
    constexpr int callers = 8;
    failure_tally results;
    std::shared_ptr<background_call> running;
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            auto config = basic_pool(1);
            config.stop.drain_timeout = 0s;
            config.cancel_grace = 100ms;
            pool workers(context.get_executor(), config);
            co_await workers.start();
            request what = request("sleep").arg("seconds", 1000);
            running = begin_call(context, workers, std::move(what));
            for (int i = 0; i < callers; ++i) {
                ++results.open;
                asio::co_spawn(context, suspend_in_vain(workers, results),
                               [&](std::exception_ptr e) { results.other += e ? 1 : 0; });
            }
            co_await pause(50ms);
            co_await workers.shutdown();
            while (results.open > 0) {
                co_await pause(10ms);
            }
        },
        4);
    BOOST_TEST(running->is_done());
    BOOST_TEST(results.refused == callers);
    BOOST_TEST(results.other == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

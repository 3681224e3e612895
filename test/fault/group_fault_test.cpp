// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What is left of a worker's process group when the worker has ended: a moment to tidy up, then nothing.

#include "support/run.hpp"

#include <csignal>
#include <filesystem>
#include <string>

namespace skep::test {

namespace {

using ending = std::function<asio::awaitable<void>(pool&)>;

bool is_left(const std::string& segment) {
    return std::filesystem::exists("/dev/shm/" + segment);
}

/// Has a worker make a segment in /dev/shm, ends it, and looks whether the segment is gone. The moment that
/// Python's resource_tracker has for that may be too short on a machine that is busy: once is enough.
void check_tidies_up(const pool_config& config, const ending& end) {
    bool is_tidy = false;
    for (int round = 0; round < 5 && !is_tidy; ++round) {
        std::string segment;
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), config);
            co_await workers.start();
            request making("segment");
            const json::value name = co_await value_of(workers, std::move(making));
            segment = json::value_to<std::string>(name);
            BOOST_TEST(is_left(segment));
            co_await end(workers);
        });
        is_tidy = !is_left(segment);
        std::filesystem::remove("/dev/shm/" + segment);
    }
    BOOST_TEST(is_tidy);
}

asio::awaitable<void> shut_down(pool& workers) {
    co_await workers.shutdown();
}

} // namespace

BOOST_AUTO_TEST_SUITE(group_fault)

BOOST_AUTO_TEST_CASE(a_segment_is_removed_after_a_shutdown) {
    check_tidies_up(quick(basic_pool(1)), shut_down);
}

BOOST_AUTO_TEST_CASE(a_segment_is_removed_after_a_kill) {
    auto config = quick(basic_pool(1));
    config.stop.shutdown_grace = 0ms;
    config.stop.term_grace = 0ms;
    check_tidies_up(config, shut_down);
}

BOOST_AUTO_TEST_CASE(a_segment_is_removed_after_a_crash) {
    check_tidies_up(quick(basic_pool(1)), [](pool& workers) -> asio::awaitable<void> {
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        co_await workers.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(a_segment_is_removed_by_a_pool_that_is_destroyed) {
    check_tidies_up(quick(basic_pool(1)), [](pool&) -> asio::awaitable<void> { co_return; });
}

/// A child that was forked has all that its parent had open.
BOOST_AUTO_TEST_CASE(calls_fail_at_once_though_a_child_has_the_channels_open) {
    with_pool(quick(basic_pool(1)), [](pool& workers) -> asio::awaitable<void> {
        request forking("forked_child");
        const json::value child = co_await value_of(workers, std::move(forking));
        const auto pid = child.to_number<pid_t>();
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        BOOST_TEST(e.info().status.signal() == SIGKILL);
        const bool healed = co_await is_healed(workers, 1);
        BOOST_TEST(healed);
        auto gone = [pid] { return !is_alive(pid); };
        const bool killed = co_await eventually(gone);
        BOOST_TEST(killed);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

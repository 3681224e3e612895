// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Whose memory is measured: the worker's, also behind a prefix that stays.

#include "support/log_capture.hpp"
#include "support/run.hpp"

namespace skep::test {

BOOST_AUTO_TEST_SUITE(memory)

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

pool_config behind_shell() {
    auto config = quick(basic_pool(1));
    config.launch.preload = false;
    config.launch.prefix = {"sh", "-c", "\"$@\"; true", "sh"};
    return config;
}

asio::awaitable<std::uint64_t> measured(pool& workers) {
    const auto status = co_await workers.status();
    co_return status.workers.at(0).resident_bytes;
}

asio::awaitable<void> swell(pool& workers, int mebibytes) {
    request swelling = request("swell").arg("mebibytes", mebibytes);
    co_await workers.execute(std::move(swelling));
}

} // namespace

BOOST_AUTO_TEST_CASE(of_the_worker_behind_a_prefix_that_stays) {
    with_pool(behind_shell(), [](pool& workers) -> asio::awaitable<void> {
        co_await swell(workers, 64);
        const auto bytes = co_await measured(workers);
        BOOST_TEST(bytes > 64 * mebibyte);
        const auto metrics = co_await workers.metrics();
        BOOST_TEST(metrics.status.workers.at(0).resident_bytes > 64 * mebibyte);
    });
}

BOOST_AUTO_TEST_CASE(beyond_its_hard_limit_it_is_ended_behind_a_prefix_that_stays) {
    auto config = behind_shell();
    config.recycle.hard_memory = 64 * mebibyte;
    config.recycle.memory_interval = 20ms;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        try {
            co_await swell(workers, 128);
        } catch (const error& failure) { // it may be ended before it answers
            BOOST_TEST((failure.kind() == errc::worker_lost));
        }
        auto replaced = [&]() -> asio::awaitable<bool> {
            const auto now = co_await workers.status();
            co_return now.counters.workers_replaced == 1;
        };
        const bool is_replaced = co_await eventually(replaced);
        BOOST_TEST(is_replaced);
    });
}

BOOST_AUTO_TEST_CASE(
    of_a_process_that_has_left_group_and_session_is_not_measured_and_the_limit_is_warned_of) {
    const log_capture log;
    auto config = quick(basic_pool(1));
    config.launch.preload = false;
    config.launch.prefix = {"setsid", "--wait"};
    config.recycle.soft_memory = mebibyte;
    config.recycle.memory_interval = 10ms;
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        auto warned = [&] { return log.count("is not measured, and recycle.soft_memory") > 0; };
        const bool is_warned = co_await eventually(warned);
        BOOST_TEST(is_warned);
        const auto bytes = co_await measured(workers);
        BOOST_TEST(bytes == 0u);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_recycled == 0u);
    });
    BOOST_TEST(log.count("is not measured, and recycle.soft_memory") == 1, log.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Leases of real workers.

#include "support/run.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

namespace {

constexpr const char* counting_worker = "integration/workers/leases.py";

asio::awaitable<std::int64_t> count(lease& held) {
    const auto counted = co_await held.execute<std::int64_t>("count");
    co_return counted;
}

} // namespace

BOOST_AUTO_TEST_SUITE(leases)

BOOST_AUTO_TEST_CASE(calls_of_many_leases_do_not_meet) {
    constexpr int holders = 16;
    constexpr int turns = 20;
    with_pool(python_pool(counting_worker, 3), [&](pool& workers) -> asio::awaitable<void> {
        int running = holders;
        auto hold_often = [&]() -> asio::awaitable<void> {
            for (int turn = 0; turn < turns; ++turn) {
                auto what = checkout_options().reset(request("clear")).queue_timeout(60s);
                auto held = co_await workers.checkout(std::move(what));
                for (std::int64_t i = 1; i <= 5; ++i) {
                    const auto counted = co_await count(held);
                    BOOST_TEST(counted == i);
                }
            }
            --running;
        };
        const auto executor = co_await asio::this_coro::executor;
        for (int i = 0; i < holders; ++i) {
            asio::co_spawn(executor, hold_often(), asio::detached);
        }
        auto all_done = [&] { return running == 0; };
        const bool done = co_await eventually(all_done, 60s);
        BOOST_TEST(done);
    });
}

BOOST_AUTO_TEST_CASE(a_lease_is_lost_with_its_worker_and_the_pool_heals) {
    with_pool(python_pool(counting_worker, 1), [](pool& workers) -> asio::awaitable<void> {
        auto held = co_await workers.checkout();
        const auto before = co_await count(held);
        BOOST_TEST(before == 1);
        const auto status = co_await workers.status();
        ::kill(status.workers.at(0).pid, SIGKILL);
        auto lost = [&]() -> asio::awaitable<bool> {
            const auto now = co_await workers.status();
            co_return now.counters.workers_lost == 1;
        };
        const bool is_lost = co_await eventually(lost);
        BOOST_TEST(is_lost);
        auto running = held.execute("count");
        const auto problem = co_await failure_of(std::move(running));
        BOOST_TEST((problem.kind() == errc::worker_lost));
        auto next = co_await workers.checkout();
        const auto anew = co_await count(next);
        BOOST_TEST(anew == 1);
        BOOST_TEST((next.worker() != held.worker()));
        auto closing = next.close();
        co_await std::move(closing);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

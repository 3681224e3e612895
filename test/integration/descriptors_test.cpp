// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool opens no more descriptors than it says that it needs.

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(descriptors_of_pools)

BOOST_AUTO_TEST_CASE(as_many_as_there_may_be_workers) {
    const auto three = descriptors_needed(basic_pool(3));
    auto growing = basic_pool(1);
    growing.scaling.max = 3;
    BOOST_TEST(descriptors_needed(growing) == three);
    BOOST_TEST(descriptors_needed(basic_pool(4)) > three);
    auto sized_by_cpus = basic_pool(1);
    sized_by_cpus.workers.reset();
    BOOST_TEST(descriptors_needed(sized_by_cpus) >= descriptors_needed(basic_pool(1)));
    manager_config both;
    BOOST_TEST(descriptors_needed(both) == 0u);
    both.pools = {basic_pool(3), growing};
    BOOST_TEST(descriptors_needed(both) == 2 * three);
}

BOOST_AUTO_TEST_CASE(while_workers_start_and_die_and_are_replaced) {
    auto over_stdio = quick(basic_pool(4));
    over_stdio.launch.transport = transport::stdio;
    over_stdio.launch.preload = false;
    auto forked = quick(basic_pool(4));
    forked.launch.preload = true;
    for (auto config : {quick(basic_pool(4)), over_stdio, forked}) {
        config.recycle.max_recycling = 4;
        const auto before = descriptors().size();
        std::size_t most = 0;
        const auto look = [&] { most = std::max(most, descriptors().size() - before); };
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context, config);
            bool is_over = false;
            bool has_watched = false;
            auto watch = [&]() -> asio::awaitable<void> {
                while (!is_over) {
                    look();
                    co_await pause(1ms);
                }
            };
            asio::co_spawn(context, watch(), [&](std::exception_ptr) { has_watched = true; });
            co_await workers.start();
            co_await workers.rolling_restart();
            const bool whole = co_await is_healed(workers, 4);
            BOOST_TEST(whole);
            const auto status = co_await workers.status();
            for (const auto& each : status.workers) {
                ::kill(each.pid, SIGKILL);
            }
            auto replaced = [&]() -> asio::awaitable<bool> {
                const auto now = co_await workers.status();
                co_return now.counters.workers_lost >= 4 && now.counters.workers_started >= 12;
            };
            const bool healed = co_await eventually(replaced);
            BOOST_TEST(healed);
            co_await workers.shutdown();
            is_over = true;
            while (!has_watched) {
                co_await pause(1ms);
            }
        });
        constexpr std::size_t of_the_context = 3; // epoll, its timer and its interrupter
        BOOST_TEST(most > 4u * 4);
        BOOST_TEST(most <= descriptors_needed(config) + of_the_context);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

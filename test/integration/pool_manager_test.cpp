// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Several pools of real workers, and the sessions they share.

#include "support/run.hpp"
#include <skep/pool_manager.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

pool_config workers_named(std::string name) {
    auto config = basic_pool();
    config.name = std::move(name);
    config.workers = 1;
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(managed_pools)

BOOST_AUTO_TEST_CASE(what_one_pool_suffers_does_not_touch_the_others) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {workers_named("good"), workers_named("bad")};
        config.pools[1].launch.args = {"/no/such/script.py"};
        pool_manager manager(context, std::move(config));
        std::string problem;
        try {
            auto starting = manager.start();
            co_await std::move(starting);
        } catch (const error& failure) {
            BOOST_TEST(failure.errc() == errc::start_failed);
            problem = failure.what();
        }
        BOOST_TEST(problem.find("bad: ") != std::string::npos, problem);
        BOOST_TEST(problem.find("good: ") == std::string::npos, problem);
        auto asking = manager.execute(request("echo").arg("value", 1).pool("good"));
        const auto answer = co_await std::move(asking);
        BOOST_TEST(answer.worker.pool == "good");
        auto ending = manager.shutdown();
        const auto report = co_await std::move(ending);
        BOOST_TEST(report.clean());
        BOOST_TEST(report.pools.size() == 2u);
    });
}

BOOST_AUTO_TEST_CASE(calls_are_accesses_of_their_session_and_a_session_that_is_removed_is_forgotten) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {workers_named("one")};
        config.pools[0].affinity.mode = affinity_mode::strict_queue;
        config.sessions.ttl = 1s;
        pool_manager manager(context, std::move(config));
        auto starting = manager.start();
        co_await std::move(starting);
        auto creating = manager.sessions().create("s");
        co_await std::move(creating);
        for (int i = 0; i < 4; ++i) { // for longer than it would live otherwise
            auto sleeping = manager.execute(request("sleep").arg("seconds", 0.4).session("s"));
            co_await std::move(sleeping);
        }
        auto looking = manager.sessions().peek("s");
        const auto found = co_await std::move(looking);
        BOOST_TEST(found.has_value());
        auto asking = manager.status();
        const auto before = co_await std::move(asking);
        BOOST_TEST(before.at(0).sessions == 1u);
        auto removing = manager.sessions().remove("s");
        co_await std::move(removing);
        auto asking_again = manager.status();
        const auto after = co_await std::move(asking_again);
        BOOST_TEST(after.at(0).sessions == 0u);
        auto ending = manager.shutdown();
        co_await std::move(ending);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

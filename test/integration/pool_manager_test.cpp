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
            BOOST_TEST(failure.kind() == errc::start_failed);
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

BOOST_AUTO_TEST_CASE(a_pool_that_failed_to_start_is_tried_again_while_the_others_serve) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const scratch_folder folder;
        const auto script = folder.path() / "late.py";
        manager_config config;
        config.pools = {workers_named("good"), workers_named("late")};
        config.pools[1].launch.args = {script.string()};
        pool_manager manager(context, std::move(config));
        auto failing = failure_of(manager.start());
        const auto failure = co_await std::move(failing);
        BOOST_TEST(failure.kind() == errc::start_failed);
        auto calling = failure_of(manager.execute(request("echo").arg("value", 1).pool("late")));
        const auto refusal = co_await std::move(calling);
        BOOST_TEST(refusal.kind() == errc::start_failed);
        const std::string text = refusal.what();
        BOOST_TEST(text.find("No such file") != std::string::npos, text);
        BOOST_TEST(text.find("start() first") == std::string::npos, text);
        auto asking = manager.execute(request("echo").arg("value", 1).pool("good"));
        co_await std::move(asking);
        std::filesystem::copy_file(std::string(SKEP_TEST_DIR) + "/integration/workers/basic.py", script);
        auto waiting = manager.ready(1);
        co_await std::move(waiting);
        auto again = manager.execute(request("echo").arg("value", 2).pool("late"));
        const auto answer = co_await std::move(again);
        BOOST_TEST(answer.as<int>() == 2);
        auto ending = manager.shutdown();
        const auto report = co_await std::move(ending);
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_shutdown_while_a_pool_is_to_be_tried_again) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {workers_named("good"), workers_named("bad")};
        config.pools[1].launch.args = {"/no/such/script.py"};
        config.pools[1].restart.initial_backoff = config.pools[1].restart.max_backoff = 1h;
        pool_manager manager(context, std::move(config));
        auto failing = failure_of(manager.start());
        co_await std::move(failing);
        auto ending = manager.shutdown();
        const auto report = co_await std::move(ending);
        BOOST_TEST(report.clean());
        auto waiting = failure_of(manager.ready());
        const auto late = co_await std::move(waiting);
        BOOST_TEST((late.kind() == errc::shutting_down || late.kind() == errc::start_failed));
    });
}

BOOST_AUTO_TEST_CASE(ready_fails_with_a_pool_that_is_not_tried_again) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {workers_named("good"), workers_named("bad")};
        config.pools[1].launch.args = {"/no/such/script.py"};
        config.restart_failed_pools = false;
        pool_manager manager(context, std::move(config));
        auto early = failure_of(manager.ready());
        const auto too_early = co_await std::move(early);
        BOOST_TEST(too_early.kind() == errc::not_started);
        auto failing = failure_of(manager.start());
        co_await std::move(failing);
        auto waiting = failure_of(manager.ready(100)); // more than there will ever be of "good"
        const auto failure = co_await std::move(waiting);
        BOOST_TEST(failure.kind() == errc::start_failed);
        BOOST_TEST(failure.info().pool == "bad");
        auto ending = manager.shutdown();
        co_await std::move(ending);
    });
}

BOOST_AUTO_TEST_CASE(max_workers_is_shared_in_the_order_of_the_configuration_beyond_what_each_pool_needs) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        manager_config config;
        config.pools = {workers_named("a"), workers_named("b")};
        config.max_workers = 4;
        for (auto& each : config.pools) {
            each.scaling.initial = each.scaling.max = 3;
            each.scaling.min = 1;
        }
        pool_manager manager(context, std::move(config));
        auto starting = manager.start();
        co_await std::move(starting);
        auto asking = manager.status();
        const auto status = co_await std::move(asking);
        BOOST_TEST(status.at(0).desired == 3u);
        BOOST_TEST(status.at(1).desired == 1u);
        auto growing = failure_of(manager.get("b").resize({2, 3}));
        const auto refusal = co_await std::move(growing);
        BOOST_TEST(refusal.kind() == errc::invalid_config);
        auto shrinking = manager.get("a").resize({1, 1});
        co_await std::move(shrinking);
        // The places of surplus workers are free once these have ended.
        auto leaving = eventually([&manager]() -> asio::awaitable<bool> {
            auto looking = manager.get("a").status();
            const auto of_a = co_await std::move(looking);
            co_return of_a.workers.size() == 1;
        });
        const bool have_left = co_await std::move(leaving);
        BOOST_TEST(have_left);
        auto growing_now = manager.get("b").resize({3, 3});
        co_await std::move(growing_now);
        auto waiting = manager.get("b").ready(3);
        co_await std::move(waiting);
        auto ending = manager.shutdown();
        co_await std::move(ending);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

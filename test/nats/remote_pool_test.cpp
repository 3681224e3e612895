// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The public classes, with a server.

#include "support/nats_node.hpp"
#include "support/nats_server.hpp"
#include <skep/pool_manager.hpp>
#include <skep/remote_pool.hpp>
#include <skep/until.hpp>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(remote_pool_test)

namespace {

remote_options options_for(const nats_server& server) {
    remote_options options;
    options.nats = server.options();
    options.log_level = log_level::off;
    options.queue.timeout = patience;
    return options;
}

asio::awaitable<error> failure_of(asio::awaitable<void> operation) {
    try {
        co_await std::move(operation);
    } catch (const error& failure) {
        co_return failure;
    }
    co_return error();
}

asio::awaitable<void> make_call(remote_pool& client) {
    co_await client.execute("work");
}

} // namespace

BOOST_AUTO_TEST_CASE(a_call_names_its_node) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        nats_node node(context, server.options(), "first", [](int) {});
        co_await node.start();
        remote_pool client(context, options_for(server));
        co_await client.start();
        const auto answer = co_await client.execute(request("work").arg("number", 7).arg("ms", 0));
        BOOST_TEST(answer.as<int>() == 7);
        BOOST_TEST(answer.node.value_or("") == "first");
        const auto seen = co_await node.agent().status();
        BOOST_TEST(seen.is_connected);
        BOOST_TEST(seen.links == 1u);
        BOOST_TEST(seen.pools.at("default").places == 4u);
        const auto report = co_await client.shutdown();
        BOOST_TEST(report.clean());
        co_await node.stop();
        const auto after = co_await node.agent().status();
        BOOST_TEST(!after.is_connected);
        BOOST_TEST(after.name == "first");
    });
}

BOOST_AUTO_TEST_CASE(a_start_without_nodes_fails_with_the_cause_and_goes_on) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        server.kill();
        auto options = options_for(server);
        options.queue.timeout = 300ms;
        remote_pool client(context, std::move(options));
        const auto failure = co_await failure_of(client.start());
        BOOST_TEST(failure.kind() == errc::no_node);
        BOOST_TEST(contains(failure.what(), server.address()), failure.what());
        const auto of_call = co_await failure_of(make_call(client));
        BOOST_TEST(of_call.kind() == errc::no_node);
        BOOST_TEST(contains(of_call.what(), server.address()), of_call.what());
        server.start();
        nats_node node(context, server.options(), "late", [](int) {});
        co_await node.start();
        co_await client.ready(1);
        const auto answer = co_await client.execute(request("work").arg("number", 1).arg("ms", 0));
        BOOST_TEST(answer.as<int>() == 1);
        co_await client.shutdown();
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_CASE(a_manager_sends_the_calls_of_a_full_pool_to_a_node) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        nats_node node(context, server.options(), "first", [](int) {});
        co_await node.start();
        const auto nodes = std::make_shared<remote_pool>(context, options_for(server));
        co_await nodes->start();
        pool_manager manager(context);
        manager.add("default", nodes);
        const auto answer = co_await manager.execute(request("work").arg("number", 3).arg("ms", 0));
        BOOST_TEST(answer.node.value_or("") == "first");
        co_await manager.shutdown();
        co_await nodes->shutdown();
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_CASE(a_node_can_be_started_again) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        nats_node node(context, server.options(), "first", [](int) {});
        co_await node.start();
        const auto twice = co_await failure_of(node.agent().start());
        BOOST_TEST(twice.kind() == errc::already_started);
        const auto first = co_await node.agent().status();
        co_await node.agent().stop();
        co_await node.agent().stop();
        const auto unstarted = co_await failure_of(node.agent().drain());
        BOOST_TEST(unstarted.kind() == errc::not_started);
        co_await node.agent().start();
        const auto second = co_await node.agent().status();
        BOOST_TEST(first.epoch != second.epoch);
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_CASE(the_wait_for_a_server_can_be_cancelled) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        server.kill();
        nats_node node(context, server.options(), "first", [](int) {});
        auto pause = testing::sleep_for(50ms);
        const bool has_started = co_await until(node.agent().start(), std::move(pause));
        BOOST_TEST(!has_started);
        auto asked = [&]() -> asio::awaitable<bool> {
            const auto seen = co_await node.agent().status();
            co_return !seen.problem.empty();
        };
        for (bool has_problem = false; !has_problem;) {
            co_await testing::sleep_for(5ms);
            has_problem = co_await asked();
        }
        co_await node.agent().stop();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

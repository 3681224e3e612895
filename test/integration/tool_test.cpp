// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Python workers that ask the service for things, and say how far they are.

#include "support/run.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <csignal>

namespace skep::test {

namespace json = boost::json;

namespace {

pool_config tool_pool(std::size_t workers = 1) {
    return python_pool("integration/workers/tools.py", workers);
}

request asking(const std::string& name, json::object args = {}) {
    return request("ask").arg("name", name).arg("args", std::move(args));
}

asio::awaitable<tool_reply> add(tool_call asked) {
    co_return tool_reply(asked.args.at("a").to_number<int>() + asked.args.at("b").to_number<int>());
}

} // namespace

BOOST_AUTO_TEST_SUITE(tools)

BOOST_AUTO_TEST_CASE(python_calls_a_tool_of_the_service) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("add", add);
        auto call = asking("add", {{"a", 1}, {"b", 2}});
        const auto sum = co_await workers.execute<int>(std::move(call));
        BOOST_TEST(sum == 3);
    });
}

BOOST_AUTO_TEST_CASE(a_generator_calls_one_between_its_chunks) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("add", add);
        auto call = request("sum_by_host").arg("to", 100);
        auto stream = co_await workers.stream(std::move(call));
        int last = 0;
        while (const auto piece = co_await stream.next()) {
            last = piece->as<int>();
        }
        BOOST_TEST(last == 99 * 100 / 2);
    });
}

BOOST_AUTO_TEST_CASE(bytes_travel_both_ways) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = asking("double", {});
        call.tool("double", [](tool_call) -> asio::awaitable<tool_reply> {
            std::vector<blob> bytes;
            bytes.push_back(blob(std::vector<std::byte>(1000, std::byte('x'))));
            co_return tool_reply(json::value{{"$attachment", 0}}, std::move(bytes));
        });
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_REQUIRE(answer.attachments.size() == 1u);
        BOOST_TEST(answer.attachments[0].size() == 1000u);
    });
}

BOOST_AUTO_TEST_CASE(python_sees_what_went_wrong) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("refuse", [](tool_call) -> asio::awaitable<tool_reply> {
            throw tool_error("gone", "no longer here", json::value{{"since", 3}});
            co_return tool_reply();
        });
        auto call = request("ask_error").arg("name", "refuse");
        const auto refused = co_await workers.execute(std::move(call));
        BOOST_TEST(refused.value.at("code") == json::value("gone"));
        BOOST_TEST(refused.value.at("message") == json::value("no longer here"));
        BOOST_TEST(refused.value.at("data") == (json::value{{"since", 3}}));
        call = request("ask_error").arg("name", "nothing");
        const auto unknown = co_await workers.execute(std::move(call));
        BOOST_TEST(unknown.value.at("type") == json::value("skep.UnknownTool"));
    });
}

BOOST_AUTO_TEST_CASE(an_error_that_python_does_not_catch_is_the_calls) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = asking("nothing");
        const auto failure = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST((failure.kind() == errc::remote_error));
        BOOST_TEST(failure.info().remote_type == "skep.HostError");
    });
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_while_it_waits) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("die",
                              [](tool_call) -> asio::awaitable<tool_reply> { co_return tool_reply(); });
        auto call = request("ask_and_die").arg("name", "die");
        const auto failure = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST((failure.kind() == errc::worker_lost));
    });
}

BOOST_AUTO_TEST_CASE(a_call_that_is_given_up_stops_waiting_for_its_tool) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("wait", wait_for_ever);
        auto call = request("cleans_up").arg("name", "wait").timeout(300ms);
        const auto failure = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST((failure.kind() == errc::timeout));
        const auto cleanups = co_await workers.execute<int>("cleanups");
        BOOST_TEST(cleanups == 1);
        const auto now = co_await workers.status();
        BOOST_TEST(now.workers.at(0).id.generation == 1u);
    });
}

BOOST_AUTO_TEST_CASE(a_tool_that_needs_the_worker_that_waits_for_it) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("add", add);
        workers.register_tool("nested", [&](tool_call) -> asio::awaitable<tool_reply> {
            auto inner = asking("add", {{"a", 1}, {"b", 2}});
            const auto answer = co_await workers.execute(std::move(inner));
            co_return tool_reply(answer.value);
        });
        auto call = request("ask_error").arg("name", "nested");
        const auto refused = co_await workers.execute(std::move(call));
        const auto message = json::value_to<std::string>(refused.value.at("message"));
        BOOST_TEST(message.find("ask_error -> tool nested -> ask") != std::string::npos, message);
    });
}

BOOST_AUTO_TEST_CASE(a_tool_that_calls_back_where_another_worker_is_free) {
    with_pool(tool_pool(2), [](pool& workers) -> asio::awaitable<void> {
        co_await workers.ready(2);
        workers.register_tool("add", add);
        workers.register_tool("nested", [&](tool_call) -> asio::awaitable<tool_reply> {
            auto inner = asking("add", {{"a", 1}, {"b", 2}});
            const auto answer = co_await workers.execute(std::move(inner));
            co_return tool_reply(answer.value);
        });
        auto call = asking("nested");
        const auto sum = co_await workers.execute<int>(std::move(call));
        BOOST_TEST(sum == 3);
    });
}

BOOST_AUTO_TEST_CASE(a_pool_shuts_down_while_a_tool_runs) {
    auto config = tool_pool();
    config.stop.drain_timeout = 500ms;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("wait", wait_for_ever);
        auto call = asking("wait");
        auto waiting = failure_of(workers.execute(std::move(call)));
        auto ending = workers.shutdown();
        using namespace asio::experimental::awaitable_operators;
        auto both = std::move(waiting) && std::move(ending);
        const auto outcome = co_await std::move(both);
        BOOST_TEST((std::get<0>(outcome).kind() == errc::shutting_down));
    });
}

BOOST_AUTO_TEST_CASE(progress_comes_as_it_is_made) {
    with_pool(tool_pool(), [](pool& workers) -> asio::awaitable<void> {
        std::vector<std::string> seen;
        auto call = request("train").arg("epochs", 4).on_progress([&](const progress& report) {
            seen.push_back(report.text);
        });
        const auto id = co_await workers.execute(std::move(call));
        BOOST_TEST(seen.size() >= 2u);
        BOOST_TEST(seen.back() == "epoch 4");
        BOOST_TEST(id.value == json::value(id.correlation_id));
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers in C++, by worker_server.

#include "support/run.hpp"

#include <boost/asio/detached.hpp>

#include <csignal>
#include <cstdlib>

namespace skep::test {

namespace {

pool_config cpp_pool(std::vector<std::string> args = {}) {
    pool_config config;
    config.launch.program = SKEP_CPP_WORKER;
    config.shared.enabled = std::getenv("SKEP_TEST_SHARED") != nullptr; // as python_pool() does
    config.launch.args = std::move(args);
    config.workers = config.min_ready = 1;
    config.log_level = log_level::off;
    config.output.handler = [](const output_line&) {};
    return config;
}

request tokens(int count) {
    return request("tokens").arg("count", count);
}

asio::awaitable<error> failure_of_call(pool& workers, request call) {
    auto running = workers.execute(std::move(call));
    auto failure = co_await failure_of(std::move(running));
    co_return failure;
}

/// That it is still the first worker of its pool, and serves.
asio::awaitable<void> expect_unharmed(pool& workers) {
    auto call = request("add").arg("a", 1).arg("b", 2);
    const auto sum = co_await workers.execute<double>(std::move(call));
    BOOST_TEST(sum == 3);
    const auto status = co_await workers.status();
    BOOST_TEST(status.counters.workers_started == 1u);
}

/// That one worker is at 16 calls of half a second at once.
void expect_at_once(const std::string& option, const std::string& command) {
    auto config = cpp_pool({option});
    config.capacity = 16;
    with_pool(config, [&command](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        const auto began = std::chrono::steady_clock::now();
        int ended = 0;
        const auto wait = [&]() -> asio::awaitable<void> {
            auto call = request(command).arg("ms", 500);
            co_await workers.execute(std::move(call));
            ++ended;
        };
        for (int i = 0; i < 16; ++i) {
            asio::co_spawn(executor, wait(), asio::detached);
        }
        auto have_all_ended = [&] { return ended == 16; };
        auto ending = eventually(have_all_ended);
        const bool all_ended = co_await std::move(ending);
        BOOST_TEST(all_ended);
        BOOST_TEST((std::chrono::steady_clock::now() - began < 16 * 500ms));
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(worker_servers)

BOOST_AUTO_TEST_CASE(an_empty_awaitable_is_an_error_of_its_call_or_hook) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const char* const command : {"empty", "empty_number", "empty_typed"}) {
            auto call = request(command).arg("a", 1).arg("b", 2);
            const auto failure = co_await failure_of_call(workers, std::move(call));
            BOOST_TEST(failure.kind() == errc::remote_error);
            BOOST_TEST(contains(failure.info().remote_message, "the handler returned an empty awaitable"),
                       failure.what());
        }
        co_await expect_unharmed(workers);
    });
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), cpp_pool({"start_is_empty"}));
        const auto failure = co_await failure_of(workers.start());
        BOOST_TEST(contains(failure.what(), "returned an empty awaitable"), failure.what());
        co_await workers.shutdown();
    });
    with_pool(cpp_pool({"check_is_empty"}), [](pool& workers) -> asio::awaitable<void> {
        request probe("skep.health_check");
        const auto failure = co_await failure_of_call(workers, std::move(probe));
        BOOST_TEST(contains(failure.info().remote_message, "returned an empty awaitable"), failure.what());
    });
}

BOOST_AUTO_TEST_CASE(calls) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const char* const command : {"add", "add_later"}) {
            auto call = request(command).arg("a", 1).arg("b", 2);
            const auto sum = co_await workers.execute<double>(std::move(call));
            BOOST_TEST(sum == 3);
        }
        auto call =
            request("facts").session("ada").correlation_id("4bf9").metadata("tenant", "x").timeout(60s);
        const auto facts = co_await workers.execute(std::move(call));
        BOOST_TEST(facts.value.at("session") == "ada");
        BOOST_TEST(facts.value.at("correlation_id") == "4bf9");
        BOOST_TEST(facts.value.at("metadata").at("tenant") == "x");
        BOOST_TEST(facts.value.at("remaining_ms").as_int64() > 30'000);
        BOOST_TEST(facts.value.at("state") == "started"); // by its on_start hook
        const auto slot = co_await workers.execute<std::string>("slot");
        BOOST_TEST(slot == "default/0");
    });
}

BOOST_AUTO_TEST_CASE(several_coroutines_at_once) {
    expect_at_once("capacity=16", "slow");
}

BOOST_AUTO_TEST_CASE(several_plain_functions_at_once_on_threads) {
    expect_at_once("threads=16", "block");
}

BOOST_AUTO_TEST_CASE(errors) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("fail").arg("message", "why");
        auto failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.kind() == errc::remote_error);
        BOOST_TEST(failure.info().remote_type == "std::runtime_error");
        BOOST_TEST(failure.info().remote_message == "why");
        call = request("fail").arg("how", "caller");
        failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.info().remote_type == "skep.Error");
        BOOST_TEST(failure.info().remote_code == "bad_input");
        BOOST_TEST(failure.info().remote_data.at("size") == 3);
        BOOST_TEST(is_callers_fault(failure));
        call = request("fail").arg("how", "number");
        failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.kind() == errc::remote_error);
        call = request("no_such_command");
        failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.kind() == errc::unknown_command);
        call = request("add").arg("a", "text").arg("b", 2);
        failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.kind() == errc::invalid_arguments);
        BOOST_TEST(contains(failure.what(), "/a"));
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(results_that_the_host_would_not_take) {
    auto config = cpp_pool();
    config.limits.frame_bytes = config.limits.json_bytes = 100'000;
    config.shared.enabled = false; // the limit does not count attachments in shared memory
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto call = request("big").arg("bytes", 100'000);
        auto failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.info().remote_type == "skep.ResultTooLarge");
        call = request("big").arg("bytes", 100'000).arg("attached", true);
        failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.info().remote_type == "skep.ResultTooLarge");
        for (const char* const kind : {"nan", "text", "deep"}) {
            call = request("strange").arg("kind", kind);
            failure = co_await failure_of_call(workers, std::move(call));
            BOOST_TEST(failure.info().remote_type == "skep.UnserializableResult");
        }
        call = tokens(3).arg("bytes", 100'000);
        auto stream = co_await workers.stream(std::move(call));
        auto next = stream.next();
        failure = co_await failure_of(std::move(next));
        BOOST_TEST(failure.info().remote_type == "skep.ResultTooLarge");
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(attachments_there_and_back) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        std::vector<std::byte> bytes(20'000'000);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = std::byte(i * i >> 8);
        }
        const auto large = blob(std::move(bytes));
        auto call = request("echo").attach(large).attach("").attach("small").attach(large);
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_REQUIRE(answer.attachments.size() == 4u);
        BOOST_TEST((answer.attachments[0] == large));
        BOOST_TEST(answer.attachments[1].empty());
        BOOST_TEST(answer.attachments[2].text() == "small");
        BOOST_TEST((answer.attachments[3] == large));
    });
}

BOOST_AUTO_TEST_CASE(streams) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = tokens(10'000);
        auto stream = co_await workers.stream(std::move(call));
        int expected = 0;
        while (const auto piece = co_await stream.next()) {
            BOOST_REQUIRE_EQUAL(piece->as<int>(), expected);
            ++expected;
        }
        BOOST_TEST(expected == 10'000);
        BOOST_TEST(stream.result().as<int>() == 10'000);
        call = tokens(100).arg("bytes", 50'000);
        auto blocks = co_await workers.stream(std::move(call));
        std::size_t total = 0;
        while (const auto piece = co_await blocks.next()) {
            total += piece->attachments.at(0).size();
        }
        BOOST_TEST(total == 5'000'000u);
    });
}

BOOST_AUTO_TEST_CASE(a_call_of_what_sends_chunks_gets_a_list) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = tokens(3);
        const auto values = co_await workers.execute<std::vector<int>>(std::move(call));
        BOOST_TEST((values == std::vector<int>{0, 1, 2}));
        call = tokens(3).arg("bytes", 5);
        const auto blocks = co_await workers.execute(std::move(call));
        BOOST_TEST(blocks.value.as_array().size() == 3u);
        BOOST_REQUIRE(blocks.attachments.size() == 3u);
        BOOST_TEST((blocks.attachments[2][0] == std::byte(2)));
        call = tokens(10'001);
        const auto failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.info().remote_type == "skep.ResultTooLarge");
    });
}

BOOST_AUTO_TEST_CASE(leaving_a_stream_ends_its_handler) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        {
            auto call = tokens(1'000'000'000);
            auto stream = co_await workers.stream(std::move(call));
            for (int i = 0; i < 100; ++i) {
                const auto piece = co_await stream.next();
                BOOST_REQUIRE(piece->as<int>() == i);
            }
        }
        const auto count = co_await cleanups(workers);
        BOOST_TEST(count == 1);
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(an_exception_comes_after_the_chunks) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        auto call = tokens(2).arg("fail", true);
        auto stream = co_await workers.stream(std::move(call));
        const auto first = co_await stream.next();
        const auto second = co_await stream.next();
        BOOST_TEST(second->as<int>() == 1);
        auto next = stream.next();
        const auto failure = co_await failure_of(std::move(next));
        BOOST_TEST(failure.info().remote_message == "enough");
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_is_cancelled_in_the_worker) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        for (const char* const command : {"slow", "block"}) { // one that waits, and one that looks
            auto call = request(command).arg("ms", 100'000).timeout(200ms);
            const auto failure = co_await failure_of_call(workers, std::move(call));
            BOOST_TEST(failure.kind() == errc::timeout);
        }
        const auto count = co_await cleanups(workers);
        BOOST_TEST(count == 1);
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(a_start_hook_that_fails_fails_the_start) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), cpp_pool({"start_fails"}));
        auto starting = workers.start();
        const auto failure = co_await failure_of(std::move(starting));
        BOOST_TEST(failure.kind() == errc::start_failed);
        BOOST_TEST(contains(failure.what(), "no model"));
        BOOST_TEST(contains(failure.what(), "exit code 1"));
        co_await workers.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(stop_hooks_run_at_shutdown) {
    std::string printed;
    auto config = cpp_pool();
    config.output.handler = [&](const output_line& line) { printed.append(line.text).append("\n"); };
    with_pool(config, [](pool&) -> asio::awaitable<void> { co_return; });
    BOOST_TEST(contains(printed, "stopped in order"));
}

BOOST_AUTO_TEST_CASE(its_successor_knows_how_a_worker_ended) {
    with_pool(quick(cpp_pool()), [](pool& workers) -> asio::awaitable<void> {
        auto call = request("crash");
        const auto failure = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST(failure.kind() == errc::worker_lost);
        BOOST_TEST((failure.info().exit_kind == exit_class::abort));
        const auto previous = co_await workers.execute<std::string>("previous_exit");
        BOOST_TEST(previous == "abort");
    });
}

BOOST_AUTO_TEST_CASE(calls_run_in_batches) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        std::size_t largest = 0;
        int answers = 0;
        int errors = 0;
        const auto call = [&](bool fails) -> asio::awaitable<void> {
            auto running = workers.execute(request("batch").arg("fail", fails), as_result);
            const auto answer = co_await std::move(running);
            if (answer) {
                ++answers;
                largest = std::max(largest, answer->value.to_number<std::size_t>());
            } else {
                BOOST_TEST((answer.error().kind() == errc::remote_error));
                ++errors;
            }
        };
        for (int i = 0; i < 20; ++i) {
            asio::co_spawn(executor, call(i == 10), asio::detached);
        }
        auto have_all_ended = [&] { return answers + errors == 20; };
        auto ending = eventually(have_all_ended);
        const bool all_ended = co_await std::move(ending);
        BOOST_TEST(all_ended);
        BOOST_TEST(errors == 1);
        BOOST_TEST(largest == 8u);
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(a_handler_calls_tools_of_its_host) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("double", [](tool_call asked) -> asio::awaitable<tool_reply> {
            co_return tool_reply(asked.args.at("value").to_number<int>() * 2);
        });
        workers.register_tool("refuse", [](tool_call) -> asio::awaitable<tool_reply> {
            throw tool_error("gone", "no longer here");
            co_return tool_reply();
        });
        auto call = request("ask").arg("name", "double").arg("args", json::object{{"value", 21}});
        const auto answer = co_await workers.execute<int>(std::move(call));
        BOOST_TEST(answer == 42);
        call = request("ask").arg("name", "refuse").arg("args", json::object());
        const auto refused = co_await failure_of_call(workers, std::move(call));
        BOOST_TEST((refused.kind() == errc::remote_error));
        BOOST_TEST(contains(refused.what(), "no longer here"));
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(a_handler_says_how_far_it_is) {
    with_pool(cpp_pool(), [](pool& workers) -> asio::awaitable<void> {
        double last = 0;
        auto call = request("report").arg("steps", 5).on_progress([&](const progress& report) {
            last = report.fraction;
        });
        co_await workers.execute(std::move(call));
        BOOST_TEST(last == 1);
    });
}

BOOST_AUTO_TEST_CASE(frames_over_stdio) {
    auto config = cpp_pool();
    config.launch.preload = false;
    config.launch.transport = transport::stdio;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto call = tokens(100);
        auto stream = co_await workers.stream(std::move(call));
        int count = 0;
        while (const auto piece = co_await stream.next()) {
            ++count;
        }
        BOOST_TEST(count == 100);
        co_await expect_unharmed(workers);
    });
}

BOOST_AUTO_TEST_CASE(an_unhealthy_worker_is_found_out) {
    auto config = quick(cpp_pool({"unhealthy"}));
    config.health_check.interval = config.health_check.retry_interval = 50ms;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto is_found_out = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.unhealthy_workers_terminated > 0;
        };
        auto finding = eventually(is_found_out);
        const bool found = co_await std::move(finding);
        BOOST_TEST(found);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

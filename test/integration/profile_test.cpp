// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Python workers that are at several calls at once: in threads, and on an event loop.

#include "support/run.hpp"

namespace skep::test {

namespace {

constexpr std::size_t thread_count = 4;
constexpr std::size_t task_count = 100;

pool_config thread_pool() {
    auto config = python_pool("integration/workers/threads.py");
    config.threads_per_worker = thread_count;
    return config;
}

pool_config async_pool() {
    auto config = python_pool("integration/workers/loop.py");
    config.capacity = task_count;
    return config;
}

template <class Body>
void with_context_and_pool(const pool_config& config, Body body) {
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        co_await body(context, workers);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

/// As many calls as that, none of which is answered before all have begun.
void expect_to_meet(const pool_config& config, std::size_t count) {
    with_context_and_pool(config, [&](asio::io_context& context, pool& workers) -> asio::awaitable<void> {
        std::vector<std::shared_ptr<background_call>> calls;
        for (std::size_t i = 0; i < count; ++i) {
            calls.push_back(begin_call(context, workers, request("meet").arg("count", count)));
        }
        for (const auto& call : calls) {
            const bool ended = co_await is_ended(call, 60s);
            BOOST_REQUIRE(ended);
            BOOST_REQUIRE(call->answer);
            BOOST_TEST(call->answer->as<std::size_t>() == count);
        }
    });
}

asio::awaitable<bool> has_cleaned_up(pool& workers, int times) {
    auto so_often = [&workers, times]() -> asio::awaitable<bool> {
        const auto count = co_await workers.execute<int>("cleanups");
        co_return count == times;
    };
    const bool cleaned = co_await eventually(so_often);
    co_return cleaned;
}

asio::awaitable<void> expect_first_generation(pool& workers) {
    const auto now = co_await workers.status();
    BOOST_TEST(now.workers.at(0).id.generation == 1u);
}

/// Two calls wait in one worker; each is cancelled there without harm to the other.
void expect_to_cancel_one_of_two(const pool_config& config) {
    with_context_and_pool(config, [](asio::io_context& context, pool& workers) -> asio::awaitable<void> {
        workers.register_tool("wait", wait_for_ever);
        int begun = 0;
        const auto waiting = [&] {
            return request("wait_for_ever").on_progress([&](const progress&) { ++begun; });
        };
        const auto first = begin_call(context, workers, waiting());
        const auto second = begin_call(context, workers, waiting());
        const auto both_begun = [&] { return begun == 2; };
        const bool have_begun = co_await eventually(both_begun);
        BOOST_REQUIRE(have_begun);
        first->cancel.emit(asio::cancellation_type::terminal);
        const bool first_cleaned_up = co_await has_cleaned_up(workers, 1);
        BOOST_TEST(first_cleaned_up);
        BOOST_TEST(first->is_done());
        BOOST_TEST(!second->is_done());
        second->cancel.emit(asio::cancellation_type::terminal);
        const bool second_cleaned_up = co_await has_cleaned_up(workers, 2);
        BOOST_TEST(second_cleaned_up);
        co_await expect_first_generation(workers);
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(profiles)

BOOST_AUTO_TEST_CASE(threads_are_at_several_calls_at_once) {
    expect_to_meet(thread_pool(), thread_count);
}

BOOST_AUTO_TEST_CASE(a_thread_is_cancelled_and_no_other) {
    expect_to_cancel_one_of_two(thread_pool());
}

BOOST_AUTO_TEST_CASE(streams_of_threads_go_side_by_side) {
    with_pool(thread_pool(), [](pool& workers) -> asio::awaitable<void> {
        constexpr int to = 200;
        auto call = request("count_together").arg("to", to).arg("count", 2);
        auto first = co_await workers.stream(call);
        auto second = co_await workers.stream(std::move(call));
        for (int expected = 0; expected < to; ++expected) {
            const auto one = co_await first.next();
            const auto other = co_await second.next();
            BOOST_REQUIRE(one->as<int>() == expected);
            BOOST_REQUIRE(other->as<int>() == expected);
        }
        const auto end_of_first = co_await first.next();
        const auto end_of_second = co_await second.next();
        BOOST_TEST(!end_of_first.has_value());
        BOOST_TEST(!end_of_second.has_value());
    });
}

BOOST_AUTO_TEST_CASE(a_script_that_is_not_thread_safe_says_so) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        auto config = thread_pool();
        config.launch.args.push_back("--not-thread-safe");
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto failure = co_await failure_of(std::move(starting));
        BOOST_TEST(failure.kind() == errc::start_failed);
        BOOST_TEST(contains(failure.what(), "the pool wants 4 calls at once in threads of one process"));
        BOOST_TEST(contains(failure.what(), "skep.Worker(thread_safe=True)"));
        co_await workers.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(a_hundred_calls_await_on_one_loop) {
    expect_to_meet(async_pool(), task_count);
}

BOOST_AUTO_TEST_CASE(a_task_is_cancelled_and_no_other) {
    expect_to_cancel_one_of_two(async_pool());
}

BOOST_AUTO_TEST_CASE(leaving_closes_an_async_generator) {
    with_pool(async_pool(), [](pool& workers) -> asio::awaitable<void> {
        {
            auto call = request("count_for_ever");
            auto stream = co_await workers.stream(std::move(call));
            const auto first = co_await stream.next();
            BOOST_TEST(first->as<int>() == 0);
        }
        const bool cleaned_up = co_await has_cleaned_up(workers, 1);
        BOOST_TEST(cleaned_up);
        co_await expect_first_generation(workers);
    });
}

BOOST_AUTO_TEST_CASE(async_commands_call_tools_side_by_side) {
    with_pool(async_pool(), [](pool& workers) -> asio::awaitable<void> {
        workers.register_tool("add", [](tool_call asked) -> asio::awaitable<tool_reply> {
            co_return tool_reply(asked.args.at("a").to_number<int>() + asked.args.at("b").to_number<int>());
        });
        auto call = request("sum_by_host").arg("count", 200); // more than the host takes at a time
        const auto sum = co_await workers.execute<int>(std::move(call));
        BOOST_TEST(sum == 199 * 200);
    });
}

BOOST_AUTO_TEST_CASE(thread_safety_checks_are_a_key_of_the_configuration) {
    const scratch_folder folder;
    auto config = thread_pool();
    config.launch.args = {write_file(folder / "worker.py", "import skep, sqlite3\n"
                                                           "worker = skep.Worker(thread_safe=True)\n"
                                                           "if __name__ == '__main__':\n"
                                                           "    worker.run()\n")};
    auto written = to_json(config);
    written["thread_safety_checks"] = "report";
    auto checked = pool_config::from_json(written);
    checked.log_level = log_level::off;
    std::string said;
    checked.output.handler = [&said](const output_line& line) { said += std::string(line.text) + '\n'; };
    with_context_and_pool(checked, [&](asio::io_context&, pool&) -> asio::awaitable<void> {
        auto is_said = [&] {
            return said.find("sqlite3 is not safe in several threads") != std::string::npos;
        };
        const bool is = co_await eventually(is_said);
        BOOST_TEST(is, said);
    });
}

BOOST_AUTO_TEST_CASE(strict_thread_safety_checks_fail_the_call_that_comes_second) {
    const scratch_folder folder;
    auto config = thread_pool();
    config.launch.args = {write_file(folder / "worker.py", "import skep, threading\n"
                                                           "worker = skep.Worker(thread_safe=True)\n"
                                                           "released = threading.Event()\n"
                                                           "class Model:\n"
                                                           "    def train(self):\n"
                                                           "        return released.wait(60)\n"
                                                           "model = Model()\n"
                                                           "@worker.command\n"
                                                           "def train():\n"
                                                           "    try:\n"
                                                           "        return model.train()\n"
                                                           "    finally:\n"
                                                           "        released.set()\n"
                                                           "worker.run()\n")};
    config.thread_safety_checks = thread_checks::strict;
    config.log_level = log_level::off;
    with_context_and_pool(config, [](asio::io_context& context, pool& workers) -> asio::awaitable<void> {
        std::string answers;
        std::string complaints;
        std::vector<std::shared_ptr<background_call>> both;
        both.push_back(begin_call(context, workers, request("train")));
        both.push_back(begin_call(context, workers, request("train")));
        for (const auto& each : both) {
            const bool ended = co_await is_ended(each, 60s);
            BOOST_REQUIRE(ended);
            answers += each->answer ? json::serialize(each->answer->value) : "";
            complaints += each->problem ? each->problem->what() : "";
        }
        BOOST_TEST(answers == "true"); // of the call that came first
        BOOST_TEST(contains(complaints, "uses 'train' of a Model"), complaints);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

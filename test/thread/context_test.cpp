// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Contexts with one thread each, a pool on a thread of its own, and the warning about a context with several
// threads.

#include "support/run.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace skep::test {

namespace {

/// The threads on which something ran.
class thread_set {
public:
    void add_this() {
        const std::lock_guard lock(mutex_);
        ids_.insert(std::this_thread::get_id());
    }
    std::size_t size() const { return ids_.size(); }
    bool has_this() const { return ids_.contains(std::this_thread::get_id()); }

private:
    std::mutex mutex_;
    std::set<std::thread::id> ids_;
};

/// Calls from one coroutine, each of which resumes on the thread of the first.
asio::awaitable<void> call_on_one_thread(pool& workers, int calls, std::atomic<int>& answers,
                                         thread_set& threads) {
    const auto home = std::this_thread::get_id();
    threads.add_this();
    for (int i = 0; i < calls; ++i) {
        auto call = request("echo").arg("value", i);
        const auto answer = co_await workers.execute(std::move(call));
        answers += answer.value == i && std::this_thread::get_id() == home ? 1 : 0;
    }
}

pool_config on_own_thread(pool_config config) {
    config.thread = pool_thread::own;
    return config;
}

/// Runs `body` to its end, on this thread.
template <class T>
T complete_in(asio::io_context& context, asio::awaitable<T> body) {
    auto ended = asio::co_spawn(context, std::move(body), asio::use_future);
    context.restart();
    context.run();
    return ended.get();
}

} // namespace

BOOST_AUTO_TEST_SUITE(contexts)

BOOST_AUTO_TEST_CASE(coroutines_stay_on_the_threads_of_a_program) {
    const leak_audit audit;
    constexpr int callers = 6;
    constexpr int calls = 50;
    std::atomic<int> answers{0};
    std::atomic<int> ended{0};
    thread_set threads_seen;
    auto main = [&](pool& workers, context_group& contexts) -> asio::awaitable<void> {
        BOOST_TEST(contexts.size() == 3u);
        for (int i = 0; i < callers; ++i) {
            auto caller = call_on_one_thread(workers, calls, answers, threads_seen);
            asio::co_spawn(contexts.next(), std::move(caller), [&](const std::exception_ptr&) { ++ended; });
        }
        auto is_over = [&]() -> asio::awaitable<bool> { co_return ended == callers; };
        co_await eventually(is_over);
    };
    BOOST_TEST(skep::run(basic_pool(2), main, skep::threads(3)) == 0);
    BOOST_TEST(answers == callers * calls);
    BOOST_TEST(threads_seen.size() == 3u);
    BOOST_TEST(threads_seen.has_this());
}

BOOST_AUTO_TEST_CASE(an_exception_on_any_thread_ends_a_group) {
    context_group contexts(skep::threads(3));
    for (int i = 0; i < 3; ++i) {
        const auto executor = contexts.next();
        if (i == 2) {
            asio::post(executor, [] { throw std::runtime_error("from the last thread"); });
        }
    }
    BOOST_CHECK_EXCEPTION(contexts.run(), std::runtime_error, [](const std::runtime_error& e) {
        return e.what() == std::string("from the last thread");
    });
    contexts.restart();
    asio::post(contexts.first(), [&] { contexts.stop(); });
    contexts.run(); // the exception is gone
}

BOOST_AUTO_TEST_CASE(a_group_may_run_until_its_work_is_done) {
    context_group contexts(skep::threads(2), wait_mode::block);
    std::atomic<int> done{0};
    for (int i = 0; i < 4; ++i) {
        asio::post(contexts.next(), [&] { ++done; });
    }
    contexts.run_for(1h);
    BOOST_TEST(done == 4);
    contexts.restart();
    asio::post(contexts.next(), [&] { ++done; });
    asio::post(contexts.next(), [&] { ++done; });
    contexts.poll();
    BOOST_TEST(done == 6);
}

BOOST_AUTO_TEST_CASE(a_group_has_a_thread_at_least) {
    for (const std::size_t count : {0u, 1025u}) {
        BOOST_CHECK_EXCEPTION(context_group(skep::threads(count)), error, [&](const error& e) {
            return e.kind() == errc::invalid_config &&
                   contains(e.what(), "threads = " + std::to_string(count) + ": must be 1..1024");
        });
    }
}

BOOST_AUTO_TEST_CASE(a_pool_on_a_thread_of_its_own) {
    const leak_audit audit;
    std::atomic<int> answers{0};
    thread_set callers;
    thread_set of_tools;
    asio::io_context context;
    pool workers(context, on_own_thread(basic_pool(2)));
    pool asking(context, on_own_thread(python_pool("integration/workers/tools.py")));
    asking.register_tool("where", [&](tool_call) -> asio::awaitable<tool_reply> {
        of_tools.add_this();
        co_return tool_reply();
    });
    auto body = [&]() -> asio::awaitable<void> {
        co_await workers.start();
        co_await asking.start();
        co_await call_on_one_thread(workers, 100, answers, callers);
        auto call = request("ask").arg("name", "where").arg("args", json::object());
        co_await asking.execute(std::move(call));
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
        co_await asking.shutdown();
    };
    complete_in(context, body());
    BOOST_TEST(answers == 100);
    BOOST_TEST(callers.has_this());
    BOOST_TEST(of_tools.size() == 1u);
    BOOST_TEST(!of_tools.has_this());
}

BOOST_AUTO_TEST_CASE(the_end_of_such_a_pool_ends_its_workers_and_its_thread) {
    const leak_audit audit;
    asio::io_context context;
    std::optional<pool> workers(std::in_place, context, on_own_thread(basic_pool(2)));
    complete_in(context, workers->start());
    auto endless = request("sleep").arg("seconds", 1000);
    auto failure =
        asio::co_spawn(context, failure_of(workers->execute(std::move(endless))), asio::use_future);
    context.restart();
    context.poll(); // the call enters the pool
    std::optional<pool> moved(std::move(*workers));
    workers.reset();
    moved.reset();
    context.run();
    BOOST_TEST((failure.get().kind() == errc::shutting_down));
}

BOOST_AUTO_TEST_CASE(a_pool_warns_once_about_a_context_with_several_threads) {
    std::atomic<int> warnings{0};
    auto config = basic_pool(2);
    config.restart.safety_tick = 10ms;
    config.log_level = log_level::warning;
    config.log_handler = [&](const log_record& record) {
        warnings += contains(record.text, "several threads run the execution context") ? 1 : 0;
    };
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context, config);
            co_await workers.start();
            auto is_warned = [&]() -> asio::awaitable<bool> {
                std::atomic<int> answers{0};
                thread_set seen;
                co_await call_on_one_thread(workers, 10, answers, seen);
                co_return warnings > 0;
            };
            co_await eventually(is_warned);
            co_await pause(100ms);
            co_await workers.shutdown();
        },
        2);
    BOOST_TEST(warnings == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

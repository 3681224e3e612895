// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Contexts with one thread each, and the warning about a context with several threads.

#include "support/run.hpp"

#include <boost/asio/post.hpp>

#include <atomic>
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

/// Callers on every context wait for their workers, when an exception ends the program.
BOOST_AUTO_TEST_CASE(calls_on_all_contexts_end_with_their_program) {
    const leak_audit audit;
    auto main = [](pool& workers, context_group& contexts) -> asio::awaitable<void> {
        for (int i = 0; i < 6; ++i) {
            auto call = request("sleep").arg("seconds", 1000);
            asio::co_spawn(contexts.next(), value_of(workers, std::move(call)),
                           [](const std::exception_ptr&, const json::value&) {});
        }
        auto is_busy = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.in_flight == 2 && status.queued == 4;
        };
        co_await eventually(is_busy);
        asio::post(contexts.next(), [] { throw std::runtime_error("ends the program"); });
        co_await pause(1h);
    };
    BOOST_CHECK_EXCEPTION(
        skep::run(basic_pool(2), main, skep::threads(3)), std::runtime_error,
        [](const std::runtime_error& e) { return e.what() == std::string("ends the program"); });
}

/// Threads that take turns, each of which ends before the next one runs the context.
BOOST_AUTO_TEST_CASE(a_pool_warns_once_about_a_context_with_several_threads) {
    const leak_audit audit;
    int warnings = 0;
    auto config = basic_pool();
    config.restart.safety_tick = 10ms;
    config.log_level = log_level::warning;
    config.log_handler = [&](const log_record& record) {
        warnings += contains(record.text, "several threads run the execution context") ? 1 : 0;
    };
    asio::io_context context;
    pool workers(context, config);
    asio::co_spawn(context, workers.start(), [](const std::exception_ptr&) {});
    for (int turn = 0; turn < 200; ++turn) {
        std::thread([&] { context.run_for(25ms); }).join();
        context.run_for(25ms);
    }
    BOOST_TEST(warnings == 1);
    asio::co_spawn(context, workers.shutdown(), [](const std::exception_ptr&, const shutdown_report&) {});
    context.run();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test

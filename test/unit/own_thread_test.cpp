// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A thread with an execution context that lives as long as its executors.

#include "async/timer.hpp"
#include "process/own_thread.hpp"
#include "support/in_a_child.hpp"
#include "support/leak_audit.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace skep;
using namespace std::chrono_literals;

namespace {

/// Returns the thread that runs the functions of `executor`.
template <class Executor>
std::thread::id thread_of(const Executor& executor) {
    std::promise<std::thread::id> id;
    asio::post(executor, [&id] { id.set_value(std::this_thread::get_id()); });
    return id.get_future().get();
}

/// Waits until this process has `count` threads.
bool has_threads(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (test::threads() != count && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    return test::threads() == count;
}

class own_thread_trial {
public:
    const test::leak_audit audit;
    const std::size_t threads = test::threads();
    std::optional<asio::io_context> user{std::in_place};

    pool_executor start(wait_mode wait = wait_mode::block) {
        return start_own_thread(user->get_executor(), wait);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(own_thread, own_thread_trial)

BOOST_AUTO_TEST_CASE(runs_functions_while_there_is_an_executor) {
    for (const auto wait : {wait_mode::block, wait_mode::adaptive}) {
        std::optional<pool_executor> first(start(wait));
        const auto thread = thread_of(*first);
        BOOST_TEST((thread != std::this_thread::get_id()));
        std::optional<strand> over(*first);
        std::optional<timer> later(std::in_place, *over, time_point::max());
        asio::any_io_executor erased(*first);
        first.reset();
        BOOST_TEST((thread_of(*over) == thread));
        over.reset();
        BOOST_TEST((thread_of(later->get_executor()) == thread));
        later.reset();
        BOOST_TEST((thread_of(erased) == thread));
        BOOST_TEST(test::threads() == threads + 1);
        erased = nullptr;
        BOOST_TEST(has_threads(threads));
    }
}

BOOST_AUTO_TEST_CASE(executors_compare_and_are_assigned_as_others) {
    auto one = start();
    const auto other = start();
    const auto copy = one; // NOLINT(performance-unnecessary-copy-initialization)
    BOOST_TEST((copy == one));
    BOOST_TEST((one != other));
    BOOST_TEST((one != pool_executor(user->get_executor())));
    const auto tracked = asio::require(other, asio::execution::outstanding_work.tracked);
    auto changing = asio::require(one, asio::execution::outstanding_work.tracked);
    changing = tracked;
    one = other;
    BOOST_TEST(has_threads(threads + 2)); // `copy` has the first thread
    BOOST_TEST((thread_of(one) == thread_of(changing)));
    changing = asio::require(pool_executor(user->get_executor()), asio::execution::outstanding_work.tracked);
}

BOOST_AUTO_TEST_CASE(many_in_series_leave_none) {
    for (int i = 0; i < 100; ++i) {
        const auto executor = start();
        BOOST_TEST((thread_of(executor) != std::this_thread::get_id()));
    }
    BOOST_TEST(has_threads(threads));
}

BOOST_AUTO_TEST_CASE(ends_with_the_context_of_the_user) {
    const auto token = std::make_shared<int>();
    const auto executor = start();
    const strand over(executor);
    timer waiting(over, time_point::max());
    waiting.async_wait([token, over](const boost::system::error_code&) {});
    thread_of(over);
    user.reset();
    BOOST_TEST(has_threads(threads));
    BOOST_TEST(token.use_count() == 1);
    asio::post(over, [token, over] {});
    asio::post(executor, [token, executor] {});
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(destroys_what_waits_at_the_end) {
    const auto token = std::make_shared<int>();
    {
        const auto executor = start();
        std::promise<void> begun;
        std::promise<void> go_on;
        asio::post(executor, [&, on = go_on.get_future().share()] {
            begun.set_value();
            on.wait();
        });
        begun.get_future().wait();
        asio::post(executor, [token, executor] {});
        asio::post(strand(executor), [token, executor] {});
        std::thread end([&] { user.reset(); });
        go_on.set_value();
        end.join();
    }
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_function_of_the_thread_may_end_it) {
    const auto token = std::make_shared<int>();
    {
        const auto executor = start();
        asio::post(executor, [&, token, executor] {
            asio::post(executor, [token, executor] {});
            user.reset();
            asio::post(executor, [token, executor] {});
        });
    }
    BOOST_TEST(has_threads(threads));
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(several_end_together) {
    const auto one = start();
    const auto other = start();
    const auto token = std::make_shared<int>();
    timer waiting(strand(one), time_point::max());
    waiting.async_wait([token, one, other](const boost::system::error_code&) {});
    timer also_waiting(strand(other), time_point::max());
    also_waiting.async_wait([token, one, other](const boost::system::error_code&) {});
    user.reset();
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_forked_copy_leaves_it_alone) {
    const auto executor = start();
    thread_of(executor);
    const int code = test::in_a_child([&] {
        user.reset();
        return 0;
    });
    BOOST_TEST(code == 0);
    thread_of(executor);
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_function_ends_the_process) {
    const int code = test::in_a_child([] {
        std::set_terminate([] { ::_exit(7); });
        asio::io_context context;
        asio::post(start_own_thread(context.get_executor(), wait_mode::block), [] { throw 1; });
        std::promise<void> never;
        never.get_future().wait_for(60s);
        return 0;
    });
    BOOST_TEST(code == 7);
}

BOOST_AUTO_TEST_SUITE_END()

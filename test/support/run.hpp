// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/leak_audit.hpp"

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace skep::test {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

/// Runs `body(context)`, a coroutine, to its end and everything it started, on `thread_count` threads; then audits for
/// leaks. A test that hangs fails after two minutes.
template <class Body> void run(Body body, int thread_count = 1) {
    const leak_audit audit;
    asio::io_context context(thread_count);
    std::exception_ptr problem;
    bool finished = false;
    asio::co_spawn(context, body(context), [&](std::exception_ptr error) {
        problem = error;
        finished = true;
    });
    std::vector<std::thread> helpers;
    for (int i = 1; i < thread_count; ++i) {
        helpers.emplace_back([&context] { context.run_for(2min); });
    }
    context.run_for(2min);
    for (auto& helper : helpers) {
        helper.join();
    }
    BOOST_CHECK_MESSAGE(finished, "the test did not finish");
    BOOST_CHECK_MESSAGE(context.stopped(), "something is still running in the context");
    if (problem) {
        std::rethrow_exception(problem);
    }
}

/// A configuration for a script in test/, quick to notice and to replace.
inline pool_config python_pool(const std::string& script, std::size_t workers = 1) {
    auto config = pool_config::python(std::string(SKEP_TEST_DIR) + "/" + script, SKEP_TEST_PYTHON);
    config.workers = workers;
    config.log = log_level::off;
    config.output.handler = [](const output_line&) {};
    return config;
}

inline pool_config basic_pool(std::size_t workers = 1) {
    return python_pool("integration/workers/basic.py", workers);
}

inline pool_config evil_pool(const std::string& fault, std::size_t workers = 1) {
    auto config = python_pool("integration/evil_worker.py", workers);
    config.launch.args.push_back("--fault=" + fault);
    return config;
}

/// Awaits `operation` and returns the error it ends with, or fails the test if it succeeds.
template <class T> asio::awaitable<error> failure_of(asio::awaitable<T> operation) {
    try {
        co_await std::move(operation);
    } catch (const error& e) {
        co_return e;
    }
    BOOST_ERROR("the operation succeeded");
    co_return error(errc::invalid_request, {});
}

/// A pause in real time, for what cannot be waited for.
asio::awaitable<void> inline pause(duration length) {
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Looks every few milliseconds until `condition()`, an awaitable<bool>, holds. False if it never does.
template <class Condition> asio::awaitable<bool> eventually(Condition condition, duration limit = 20s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        const bool holds = co_await condition();
        if (holds) {
            co_return true;
        }
        co_await pause(5ms);
    }
    co_return false;
}

} // namespace skep::test

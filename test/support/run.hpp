// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/leak_audit.hpp"
#include "support/text.hpp"
#include <skep/skep.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <vector>

namespace skep {

// How Boost.Test shows what it compares.
inline std::ostream& boost_test_print_type(std::ostream& out, errc code) {
    return out << make_error_code(code);
}
inline std::ostream& boost_test_print_type(std::ostream& out, worker_state state) {
    return out << to_string(state);
}
inline std::ostream& boost_test_print_type(std::ostream& out, stop_stage stage) {
    return out << to_string(stage);
}

} // namespace skep

namespace skep::test {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

/// Longer than a machine stands still: the limit of what ends soon, where the alternative is an end after
/// minutes or none.
inline constexpr duration patience = 60s;

/// Runs `body(context)`, a coroutine, to its end and everything it started, on `thread_count` threads; then
/// audits for leaks. A test that hangs fails after the limit.
template <class Body>
void run(Body body, int thread_count = 1, std::chrono::seconds limit = 5min) {
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
        helpers.emplace_back([&context, limit] { context.run_for(limit); });
    }
    context.run_for(limit);
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
    config.stop.shutdown_grace = patience;
    config.min_ready = workers; // so that a test finds all of them up
    config.log_level = log_level::off;
    config.output.handler = [](const output_line&) {};
    config.launch.preload = std::getenv("SKEP_TEST_PRELOAD") != nullptr; // for the whole suite
    if (std::getenv("SKEP_TEST_SHARED") != nullptr) {                    // likewise
        config.shared.enabled = true;
        config.shared.least = 4096;
        config.shared.least_result = 4096;
    }
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
template <class T>
asio::awaitable<error> failure_of(asio::awaitable<T> operation) {
    try {
        co_await std::move(operation);
    } catch (const error& e) {
        co_return e;
    }
    BOOST_ERROR("the operation succeeded");
    co_return error(errc::invalid_request, {});
}

/// Starts a pool that cannot come up, and returns why.
inline error start_failure(const pool_config& config) {
    std::optional<error> problem;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        problem = co_await failure_of(std::move(starting));
        co_await workers.shutdown();
    });
    return *problem;
}

/// A pause in real time, for what cannot be waited for.
asio::awaitable<void> inline pause(duration length) {
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Looks every few milliseconds until `condition()`, a bool or an awaitable<bool>, holds. False if it never
/// does.
template <class Condition>
asio::awaitable<bool> eventually(Condition condition, duration limit = patience) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        bool holds = false;
        if constexpr (std::is_same_v<std::invoke_result_t<Condition&>, bool>) {
            holds = condition();
        } else {
            holds = co_await condition();
        }
        if (holds) {
            co_return true;
        }
        co_await pause(5ms);
    }
    co_return false;
}

/// The same configuration with a stop sequence, replacement and cancelling that take tenths of a second.
inline pool_config quick(pool_config config) {
    config.stop.shutdown_grace = 300ms;
    config.stop.term_grace = 200ms;
    config.cancel_grace = 100ms;
    config.queue.timeout = patience;
    config.restart.initial_backoff = 10ms;
    config.restart.max_backoff = 100ms;
    config.restart.safety_tick = 50ms;
    return config;
}

/// The same configuration for a test of what holds only for workers that are programs of their own.
inline pool_config unforked(pool_config config) {
    config.launch.preload = false;
    return config;
}

/// Starts a pool, runs `body(pool)`, a coroutine, and shuts the pool down, all as run() does.
template <class Body>
void with_pool(const pool_config& config, Body body, std::chrono::seconds limit = 5min) {
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), config);
            co_await workers.start();
            co_await body(workers);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        },
        1, limit);
}

/// What a command returns.
inline asio::awaitable<json::value> value_of(pool& workers, request call) {
    auto answer = co_await workers.execute(std::move(call));
    co_return std::move(answer.value);
}

/// The pid of the worker that answers next.
inline asio::awaitable<pid_t> pid_of(pool& workers) {
    request call("pid");
    const auto answer = co_await workers.execute(std::move(call));
    co_return answer.value.to_number<pid_t>();
}

/// Returns what the pool says of its template.
inline asio::awaitable<template_status> template_of(pool& workers) {
    const auto status = co_await workers.status();
    co_return status.preload.value_or(template_status());
}

/// Waits until a pool of `count` workers is whole: all are ready, and none is still leaving.
inline asio::awaitable<bool> is_healed(pool& workers, std::size_t count = 1) {
    auto all_ready = [&workers, count]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        std::size_t ready = 0;
        for (const auto& worker : status.workers) {
            ready += worker.state == worker_state::ready ? 1 : 0;
        }
        const bool whole = ready == count && status.workers.size() == count;
        co_return whole;
    };
    const bool healed = co_await eventually(all_ready);
    co_return healed;
}

/// A call that runs beside the test, and what has become of it.
struct background_call {
    asio::cancellation_signal cancel;
    std::optional<reply> answer;
    std::optional<error> problem;

    bool is_done() const { return answer || problem; }
};

inline std::shared_ptr<background_call> begin_call(asio::io_context& context, call_interface& calls,
                                                   request what) {
    auto call = std::make_shared<background_call>();
    auto keep = [call](std::exception_ptr problem, reply answer) {
        if (!problem) {
            call->answer = std::move(answer);
            return;
        }
        try {
            std::rethrow_exception(problem);
        } catch (const error& e) {
            call->problem = e;
        }
    };
    asio::co_spawn(context, calls.execute(std::move(what)),
                   asio::bind_cancellation_slot(call->cancel.slot(), std::move(keep)));
    return call;
}

inline asio::awaitable<bool> is_ended(std::shared_ptr<background_call> call, duration limit = patience) {
    auto has_ended = [&call] { return call->is_done(); };
    const bool ended = co_await eventually(has_ended, limit);
    co_return ended;
}

/// A folder for the test's files, removed with all it holds.
class scratch_folder {
public:
    scratch_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "skep.XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~scratch_folder() { std::filesystem::remove_all(path_); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

inline std::string write_file(const std::string& path, const std::string& text, ::mode_t mode = 0755) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
}

inline asio::awaitable<bool> is_gone(pid_t process) {
    auto gone = [process] { return !is_alive(process); };
    const bool is = co_await eventually(gone);
    co_return is;
}

/// A tool.
inline asio::awaitable<tool_reply> wait_for_ever(tool_call) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer never(executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
    co_return tool_reply();
}

/// How many generators the worker has closed.
inline asio::awaitable<int> cleanups(pool& workers) {
    const auto count = co_await workers.execute<int>("cleanups");
    co_return count;
}

/// Bytes that repeat late.
inline blob pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i * 31 + i / 256);
    }
    return blob(std::move(bytes));
}

} // namespace skep::test

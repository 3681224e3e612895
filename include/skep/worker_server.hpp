// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/abi.hpp>
#include <skep/awaitable.hpp>
#include <skep/export.hpp>
#include <skep/worker_call.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace skep {

namespace detail {

using async_handler = std::function<boost::asio::awaitable<boost::json::value>(worker_call&)>;
using plain_handler = std::function<boost::json::value(worker_call&)>;
using async_hook = std::function<boost::asio::awaitable<void>()>;

template <class T>
struct awaited {
    static constexpr bool is_awaitable = false;
    using type = T;
};
template <class T, class Executor>
struct awaited<boost::asio::awaitable<T, Executor>> {
    static constexpr bool is_awaitable = true;
    using type = T;
};

template <class Function, class... Args>
constexpr bool is_async = awaited<std::invoke_result_t<Function&, Args...>>::is_awaitable;

template <class T>
boost::asio::awaitable<boost::json::value> to_value(boost::asio::awaitable<T> result) {
    auto running = checked(std::move(result), "the handler");
    if constexpr (std::is_void_v<T>) {
        co_await std::move(running);
        co_return boost::json::value();
    } else {
        auto value = co_await std::move(running);
        co_return boost::json::value_from(std::move(value));
    }
}

/// Calls a plain function and converts its result to JSON.
template <class Function, class... Args>
boost::json::value json_of(Function& function, Args&&... args) {
    if constexpr (std::is_void_v<std::invoke_result_t<Function&, Args...>>) {
        function(std::forward<Args>(args)...);
        return {};
    } else {
        return boost::json::value_from(function(std::forward<Args>(args)...));
    }
}

/// Calls a handler with its arguments as one value, and with the call if the handler takes it.
template <class Args, class Handler>
decltype(auto) call_with(Handler& handler, Args&& args, worker_call& call) {
    if constexpr (std::invocable<Handler&, Args, worker_call&>) {
        return handler(std::move(args), call);
    } else {
        return handler(std::move(args));
    }
}

/// Keeps the arguments alive while the handler runs: the handler may take them by reference.
template <class Args, class Handler>
boost::asio::awaitable<boost::json::value> run_typed(Handler& handler, worker_call& call) {
    auto args = call.args_as<Args>();
    auto running = to_value(call_with<Args>(handler, std::move(args), call));
    auto value = co_await std::move(running);
    co_return value;
}

template <class Check>
boost::asio::awaitable<boost::json::value> run_check(Check& check) {
    if constexpr (is_async<Check>) {
        auto running = to_value(check());
        auto value = co_await std::move(running);
        co_return value;
    } else {
        co_return json_of(check);
    }
}

template <class Hook>
boost::asio::awaitable<void> run_hook(Hook& hook) {
    if constexpr (is_async<Hook>) {
        auto running = checked(hook(), "the hook");
        co_await std::move(running);
    } else {
        hook();
        co_return;
    }
}

} // namespace detail

/// Options of a worker_server. A plain value; its setters work in a chain.
class worker_options {
public:
    /// Sets the number of calls at a time, 1 or more: coroutine handlers take turns when they await. Default:
    /// threads() if set, or else the pool's threads_per_worker, 1 by default.
    worker_options& capacity(std::size_t calls) noexcept {
        capacity_ = calls;
        return *this;
    }
    std::optional<std::size_t> capacity() const noexcept { return capacity_; }

    /// Runs handlers that are plain functions on this number of separate threads, 1 or more: for code that
    /// computes. Such a handler must tolerate several calls at once. The pool must allow it:
    /// pool_config::threads_per_worker or capacity. Default: no threads.
    worker_options& threads(std::size_t count) noexcept {
        threads_ = count;
        return *this;
    }
    std::optional<std::size_t> threads() const noexcept { return threads_; }

private:
    std::optional<std::size_t> capacity_;
    std::optional<std::size_t> threads_;
};

/// A worker of a pool, written in C++: serves commands by name until the pool asks the worker to stop.
///
///     int main() {
///         skep::worker_server server;
///         server.on("greet", [](skep::worker_call& call) { return call.arg<std::string>("name"); });
///         return server.run();
///     }
///
/// Link the program with the library skep::worker, which does not contain the pool, or with skep::skep. A
/// pool starts the program like any other program: name the program in pool_config::launch.
///
/// Preconditions: one worker_server per process. Construct the server first in main(), before the program
/// prints anything or starts threads: if frames travel over stdin and stdout, the constructor moves these to
/// other descriptors.
///
/// Executor: handlers run on the thread in run(), one at a time. Coroutines take turns when they await. A
/// blocking handler delays all other handlers, unless it is a plain function and runs on the threads of
/// worker_options::threads. Coroutines, hooks and the health check always stay on the thread in run(). A
/// separate thread answers pings, sets worker_call::cancelled(), and ends the process at once if the host
/// dies, even while a handler blocks.
///
/// Errors: an exception of a handler fails only its call; the worker continues. A result beyond the limits of
/// the host fails only its call (skep.ResultTooLarge, skep.UnserializableResult).
///
/// Thread safety: none; run() is the last function that is called.
class SKEP_API worker_server {
public:
    /// Takes the connection to the pool that started this process. Without such a pool, the constructor
    /// succeeds and run() reports the problem.
    /// Throws std::invalid_argument for a capacity of 0, and for 0 threads.
    explicit worker_server(const worker_options& options = {});
    ~worker_server();
    worker_server(const worker_server&) = delete;
    worker_server& operator=(const worker_server&) = delete;

    /// Registers the handler of a command: `handler(worker_call&)`, a plain function, or a coroutine that
    /// returns an awaitable of the result or of void. Results: any type that boost::json::value_from
    /// converts.
    /// Throws std::invalid_argument for a name that is empty, taken, or begins with "skep.".
    /// Cancellation (terminal): a coroutine is cancelled when the caller cancels the call. Clean up briefly
    /// and let operation_aborted pass.
    template <class Handler>
    requires std::invocable<Handler&, worker_call&> worker_server& on(std::string command, Handler handler) {
        if constexpr (!detail::is_async<Handler, worker_call&>) {
            return add(std::move(command), [handler = std::move(handler)](worker_call& call) mutable {
                return detail::json_of(handler, call);
            });
        } else if constexpr (std::convertible_to<Handler, detail::async_handler>) {
            return add_async(std::move(command), std::move(handler));
        } else {
            return add_async(std::move(command), [handler = std::move(handler)](worker_call& call) mutable {
                return detail::to_value(handler(call));
            });
        }
    }

    /// Registers a handler that takes its arguments as an Args, see worker_call::args_as: `handler(Args)` or
    /// `handler(Args, worker_call&)`. Arguments that do not fit fail the call with errc::invalid_arguments.
    template <class Args, class Handler>
    requires std::invocable<Handler&, Args> || std::invocable<Handler&, Args, worker_call&> worker_server& on(
        std::string command, Handler handler) {
        using result =
            decltype(detail::call_with<Args>(handler, std::declval<Args>(), std::declval<worker_call&>()));
        if constexpr (detail::awaited<result>::is_awaitable) {
            return add_async(std::move(command), [handler = std::move(handler)](worker_call& call) mutable {
                return detail::run_typed<Args>(handler, call);
            });
        } else {
            return add(std::move(command), [handler = std::move(handler)](worker_call& call) mutable {
                auto run = [&](Args&& args) {
                    return detail::call_with<Args>(handler, std::move(args), call);
                };
                return detail::json_of(run, call.args_as<Args>());
            });
        }
    }

    /// Registers the health check, a coroutine or a plain function: `check()`. The pool runs the check now
    /// and then between calls. If the check throws or returns false, the pool gives the worker no calls until
    /// the check succeeds, and finally replaces the process. Without a health check, the pool sees only that
    /// the worker answers.
    /// Throws std::invalid_argument for a second check.
    template <std::invocable Check>
    worker_server& health_check(Check check) {
        return set_health_check(
            [check = std::move(check)](worker_call&) mutable { return detail::run_check(check); });
    }

    /// Registers a hook that runs once before the worker takes calls, a coroutine or a plain function. Hooks
    /// run in the order of registration; pings are answered meanwhile. If a hook throws, the start fails.
    template <std::invocable Hook>
    worker_server& on_start(Hook hook) {
        return add_start_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

    /// Registers a hook that runs once when the worker stops in an orderly way after a complete start. The
    /// last registered hook runs first. No hook runs if the worker crashes or its host is gone.
    template <std::invocable Hook>
    worker_server& on_stop(Hook hook) {
        return add_stop_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

    /// Returns the worker's place in its pool, such as "default/0". The replacement of the worker has the
    /// same slot: use it as the name of data that must survive a crash, such as a checkpoint file. Empty if
    /// no pool started the process.
    const std::string& slot() const noexcept;

    /// Returns the kind of exit of the slot's previous worker; valid in an on_start hook or later.
    /// "segfault", "abort", "out_of_memory", "gpu" and "error": caused by that worker itself. "clean": exit
    /// code 0. "killed_by_us": caused by the pool. "killed_by_someone": caused by another party. "unknown":
    /// no information. Empty if the slot had no previous worker, or the previous worker still ran at the
    /// start of this worker.
    const std::string& previous_exit() const noexcept;

    /// Returns the executor of handlers and hooks. Use it for Asio objects that handlers need before run(),
    /// such as a timer or a connection.
    boost::asio::any_io_executor get_executor() noexcept;

    /// Serves calls until the pool asks the worker to stop, or SIGTERM arrives. On request of the pool, waits
    /// for the running handlers. On SIGTERM, cancels the running handlers, and their calls are lost.
    /// Returns the exit status for main(): 0 after an orderly stop, 1 if a hook failed, 64 if no pool started
    /// the process; stderr has the reason.
    /// Ends the process itself at once with 70 if the host is gone, and with 76 if the host breaks the
    /// protocol. With 70 over stdio, a worker that leads its process group ends the whole group.
    /// Throws std::logic_error if it is called twice.
    int run();

private:
    worker_server& add(std::string command, detail::plain_handler handler);
    worker_server& add_async(std::string command, detail::async_handler handler);
    worker_server& set_health_check(detail::async_handler check);
    worker_server& add_start_hook(detail::async_hook hook);
    worker_server& add_stop_hook(detail::async_hook hook);

    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace skep

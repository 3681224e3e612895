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

/// Calls a plain function, and makes JSON of what it returns.
template <class Function, class... Args>
boost::json::value json_of(Function& function, Args&&... args) {
    if constexpr (std::is_void_v<std::invoke_result_t<Function&, Args...>>) {
        function(std::forward<Args>(args)...);
        return {};
    } else {
        return boost::json::value_from(function(std::forward<Args>(args)...));
    }
}

/// Calls a handler that takes its arguments as one value, and perhaps the call.
template <class Args, class Handler>
decltype(auto) call_with(Handler& handler, Args&& args, worker_call& call) {
    if constexpr (std::invocable<Handler&, Args, worker_call&>) {
        return handler(std::move(args), call);
    } else {
        return handler(std::move(args));
    }
}

/// Keeps the arguments for as long as the handler runs, which may take them by reference.
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

/// How a worker_server is to be. A plain value, whose setters work in a chain.
class worker_options {
public:
    /// How many calls it is at at once, 1 or more: handlers take turns where they await something. Default: its threads();
    /// without them what the pool is configured to give it (threads_per_worker), which is 1 unless said otherwise.
    worker_options& capacity(std::size_t calls) noexcept {
        capacity_ = calls;
        return *this;
    }
    std::optional<std::size_t> capacity() const noexcept { return capacity_; }

    /// Runs the handlers that are plain functions on so many threads of their own, 1 or more: for code that computes. It must
    /// stand being run several times at once. The pool has to allow for that: pool_config::threads_per_worker or capacity.
    /// Default: none.
    worker_options& threads(std::size_t count) noexcept {
        threads_ = count;
        return *this;
    }
    std::optional<std::size_t> threads() const noexcept { return threads_; }

private:
    std::optional<std::size_t> capacity_;
    std::optional<std::size_t> threads_;
};

/// A worker of a pool, written in C++: commands by name, served until the pool asks it to stop.
///
///     int main() {
///         skep::worker_server server;
///         server.on("greet", [](skep::worker_call& call) { return "Hello, " + call.arg<std::string>("name"); });
///         return server.run();
///     }
///
/// Link the program with the library skep::worker, which has no pool in it, or with skep::skep.
///
/// One per process. Make it first in main(), before the program prints anything or starts threads: where frames travel over
/// stdin and stdout, this is what moves them out of the way. A pool starts the program as it would any other: name it in
/// pool_config::launch.
///
/// Handlers run on the thread that is in run(), one at a time; coroutines take turns with each other where they await
/// something. A handler that blocks keeps the others waiting, unless it is a plain function and has threads to run on
/// (worker_options::threads): coroutines, hooks and the health check stay on the one thread all the same. Pings are answered
/// all the same, cancellation shows in worker_call::cancelled(), and if the host dies the process ends at once, as another
/// thread sees to these.
///
/// Results must keep to the limits of the host: one that does not is an error of that one call (skep.ResultTooLarge,
/// skep.UnserializableResult). No exception of a handler costs the worker its life.
///
/// Thread safety: none; run() is the last that is called.
class SKEP_API worker_server {
public:
    /// Takes the connection to the pool that has started this process, if one has: run() tells.
    /// Throws std::invalid_argument for a capacity of 0, and for 0 threads.
    explicit worker_server(const worker_options& options = {});
    ~worker_server();
    worker_server(const worker_server&) = delete;
    worker_server& operator=(const worker_server&) = delete;

    /// Registers what answers a command: `handler(worker_call&)`, a coroutine that returns an awaitable of the result or of
    /// nothing, or a plain function. Results are whatever boost::json::value_from converts.
    ///
    /// A coroutine is cancelled (terminal) when the caller cancels the call: clean up and let operation_aborted pass. What it
    /// takes from then on is to be short.
    /// Throws std::invalid_argument for a name that is empty, taken, or begins with "skep.".
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

    /// The same with the arguments as an Args, see worker_call::args_as: `handler(Args)` or `handler(Args, worker_call&)`.
    /// Arguments that do not fit are the caller's fault (errc::invalid_arguments).
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

    /// Registers what the pool runs now and then while the worker is idle: `check()`, a coroutine or a plain function. If it
    /// throws or returns false, the pool gives the worker no calls until it succeeds, and in the end another process takes
    /// its place. Without one, the pool sees only that the worker answers.
    /// Throws std::invalid_argument for a second one.
    template <std::invocable Check>
    worker_server& health_check(Check check) {
        return set_health_check(
            [check = std::move(check)](worker_call&) mutable { return detail::run_check(check); });
    }

    /// Registers what runs once before the worker takes calls, a coroutine or a plain function. If it throws, the start fails.
    /// In the order of registration; pings are answered meanwhile.
    template <std::invocable Hook>
    worker_server& on_start(Hook hook) {
        return add_start_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

    /// Registers what runs once when the worker stops in an orderly way after a complete start; the last one registered runs
    /// first. None runs when the worker crashes or its host is gone.
    template <std::invocable Hook>
    worker_server& on_stop(Hook hook) {
        return add_stop_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

    /// The worker's place in its pool, such as "default/0": what takes its place after its end has the same. A name for what
    /// is to survive a crash, a checkpoint file say. Empty if no pool has started the process.
    const std::string& slot() const noexcept;

    /// How the worker before this one in its slot ended, to be read in an on_start hook or later: "segfault", "abort",
    /// "out_of_memory", "gpu" and "error" are its own doing, "clean" is exit code 0, "killed_by_us" is the pool's doing,
    /// "killed_by_someone" another's; "unknown" is possible. Empty if there was none, or it was still there then.
    const std::string& previous_exit() const noexcept;

    /// Where handlers and hooks run: for what they need of Asio before run(), such as a timer or a connection.
    boost::asio::any_io_executor get_executor() noexcept;

    /// Serves calls until the pool asks the worker to stop, or SIGTERM does, and returns what main() should: 0 after an
    /// orderly stop, 1 if a hook has failed, 64 if no pool has started the process; stderr says why. Asked by the pool, it
    /// waits for the handlers that run; at SIGTERM it cancels them, and those calls are lost.
    /// Ends the process itself, and at once: with 70 when the host is gone, over stdio with all that is in its process group
    /// if it leads that; with 76 when the host breaks the protocol.
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

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/batch_command.hpp>
#include <skep/worker_call.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <concepts>
#include <functional>
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

template <class Function>
concept batch_function = std::invocable<Function&, batch_calls> &&
    batch_results<typename awaited<std::invoke_result_t<Function&, batch_calls>>::type>;

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

/// The commands and hooks of a worker, as handlers in C++: base of worker_server and testing::fake_pool.
/// Thread safety: none; register everything before the worker starts.
template <class Self>
class handler_registry {
public:
    /// Registers the handler of a command: `handler(worker_call&)`, a plain function, or a coroutine that
    /// returns an awaitable of the result or of void. Results: any type that boost::json::value_from
    /// converts.
    /// Throws std::invalid_argument for a name that is empty, taken, or begins with "skep.".
    /// Cancellation (terminal): a coroutine is cancelled when the caller cancels the call. Clean up briefly
    /// and let operation_aborted pass.
    template <class Handler>
    requires std::invocable<Handler&, worker_call&> Self& on(std::string command, Handler handler) {
        if constexpr (!detail::is_async<Handler, worker_call&>) {
            return self().add(std::move(command), [handler = std::move(handler)](worker_call& call) mutable {
                return detail::json_of(handler, call);
            });
        } else if constexpr (std::convertible_to<Handler, detail::async_handler>) {
            return self().add_async(std::move(command), std::move(handler));
        } else {
            return self().add_async(std::move(command),
                                    [handler = std::move(handler)](worker_call& call) mutable {
                                        return detail::to_value(handler(call));
                                    });
        }
    }

    /// Registers a handler that takes its arguments as an Args, see worker_call::args_as: `handler(Args)` or
    /// `handler(Args, worker_call&)`. Arguments that do not fit fail the call with errc::invalid_arguments.
    template <class Args, class Handler>
    requires std::invocable<Handler&, Args> || std::invocable<Handler&, Args, worker_call&> Self& on(
        std::string command, Handler handler) {
        using result =
            decltype(detail::call_with<Args>(handler, std::declval<Args>(), std::declval<worker_call&>()));
        if constexpr (detail::awaited<result>::is_awaitable) {
            return self().add_async(std::move(command),
                                    [handler = std::move(handler)](worker_call& call) mutable {
                                        return detail::run_typed<Args>(handler, call);
                                    });
        } else {
            return self().add(std::move(command), [handler = std::move(handler)](worker_call& call) mutable {
                auto run = [&](Args&& args) {
                    return detail::call_with<Args>(handler, std::move(args), call);
                };
                return detail::json_of(run, call.args_as<Args>());
            });
        }
    }

    /// Registers the handler of a command that runs for many calls at once, such as a model that computes a
    /// batch of inputs in hardly more time than one: `handler(batch_calls)`, a plain function, or a coroutine
    /// that returns an awaitable of the results.
    ///
    ///     server.on_batch("embed", {.most = 16}, [&](skep::batch_calls calls) {
    ///         std::vector<std::string> texts;
    ///         for (const auto* const call : calls) {
    ///             texts.push_back(call->arg<std::string>("text"));
    ///         }
    ///         return model.embed(texts); // as many results
    ///     });
    ///
    /// Callers make ordinary calls. The pool makes the batches, of calls that wait for a worker; a call that
    /// finds a free worker usually is a batch of one. A batch takes one place of the worker: see
    /// worker_options::capacity. The calls are valid until the handler has ended. The batch omits calls
    /// that are late or abandoned before the batch begins, and has at least one call.
    ///
    /// Results: a range with a result for each call, in the order of the calls. Elements: any type that
    /// boost::json::value_from converts, or batch_result if single calls may fail. Attachments of a result:
    /// worker_call::attach of its call. An exception of the handler is the error of all its calls, and so is
    /// a wrong number of results.
    /// `options`: see batch_options.
    /// Throws std::invalid_argument for a name that is empty, taken, or begins with "skep.", and for options
    /// out of their range.
    /// Cancellation (terminal): a coroutine is cancelled when the callers of all its calls have left; until
    /// then, ask worker_call::cancelled.
    template <detail::batch_function Handler>
    Self& on_batch(std::string command, const batch_options& options, Handler handler) {
        using form = std::conditional_t<detail::is_async<Handler, batch_calls>, detail::async_batch_handler,
                                        detail::plain_batch_handler>;
        return self().add_batch(std::move(command), options,
                                form([handler = std::move(handler)](batch_calls calls) mutable {
                                    return detail::to_results(handler(calls));
                                }));
    }

    /// Registers the health check, a coroutine or a plain function: `check()`. The pool runs the check now
    /// and then between calls. If the check throws or returns false, the pool gives the worker no calls until
    /// the check succeeds, and finally replaces the process. Without a health check, the pool sees only that
    /// the worker answers.
    /// Throws std::invalid_argument for a second check.
    template <std::invocable Check>
    Self& health_check(Check check) {
        return self().set_health_check(
            [check = std::move(check)](worker_call&) mutable { return detail::run_check(check); });
    }

    /// Registers a hook that runs once before the worker takes calls, a coroutine or a plain function. Hooks
    /// run in the order of registration; pings are answered meanwhile. If a hook throws, the start fails.
    template <std::invocable Hook>
    Self& on_start(Hook hook) {
        return self().add_start_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

    /// Registers a hook that runs once when the worker stops in an orderly way after a complete start. The
    /// last registered hook runs first. No hook runs if the worker crashes or its host is gone.
    template <std::invocable Hook>
    Self& on_stop(Hook hook) {
        return self().add_stop_hook([hook = std::move(hook)]() mutable { return detail::run_hook(hook); });
    }

private:
    Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace skep

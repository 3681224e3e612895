// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/completion.hpp>
#include <skep/export.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace skep {

namespace detail {

/// The outcome of an operation that runs beside another one.
template <class T>
struct raced_outcome {
    std::optional<value_of<T>> value;
    std::exception_ptr failure;
    bool has_lost = false; ///< the other operation ended first

    bool is_known() const noexcept { return value || failure; }
};

template <class T>
boost::asio::awaitable<void> run_raced(boost::asio::awaitable<T> operation, raced_outcome<T>& outcome) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(operation);
            outcome.value.emplace();
        } else {
            T value = co_await std::move(operation);
            outcome.value.emplace(std::move(value));
        }
    } catch (...) {
        outcome.failure = std::current_exception();
    }
}

/// Takes an exception of `other` for its end.
template <class Other, class T>
boost::asio::awaitable<void> run_against(boost::asio::awaitable<Other> other, raced_outcome<T>& outcome) {
    try {
        co_await std::move(other);
    } catch (...) {}
    outcome.has_lost = !outcome.is_known();
}

/// Runs both at once. Cancels the one when the other ends, and returns when both have ended.
SKEP_API boost::asio::awaitable<void> race(boost::asio::awaitable<void> operation,
                                           boost::asio::awaitable<void> other);

} // namespace detail

/// Runs `operation` until `other` ends, and cancels it then. For a call that nobody needs any longer: a
/// client has left, a service is shutting down, a better answer has arrived.
///
///     auto call = pool.execute(std::move(request));
///     auto leaving = wait_until_closed(client);
///     const auto reply = co_await skep::until(std::move(call), std::move(leaving));
///     if (!reply) {
///         co_return; // the client has left; the call is cancelled
///     }
///
/// If `operation` ends first, `other` is cancelled, and the outcome of `other` is dropped. If `other` ends
/// first, with a result or with an exception, `operation` is cancelled: a failure of `operation` is dropped
/// then, but not a result that was ready before the cancellation arrived. In both cases, until() returns when
/// both have ended.
/// `operation`, `other`: awaitables of skep or of the caller. A coroutine of the caller must not hold
/// references to temporaries: until() resumes the coroutine after the full expression that made it.
/// Returns the result of `operation`, or an empty optional if `other` ended first; if T is void, true or
/// false.
/// Throws the exceptions of `operation`, if `operation` ended first. Throws std::bad_alloc.
/// Cancellation (terminal): cancels both; then throws the exception of `operation`, or returns its result.
/// Executor: both run on a strand over the executor of the calling coroutine.
template <class T, class Other>
boost::asio::awaitable<std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>> until(
    boost::asio::awaitable<T> operation, boost::asio::awaitable<Other> other) {
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    const auto earlier = state.cancelled();
    detail::raced_outcome<T> outcome;
    auto running = detail::run_raced(std::move(operation), outcome);
    auto waiting = detail::run_against(std::move(other), outcome);
    auto both = detail::race(std::move(running), std::move(waiting));
    co_await std::move(both);
    const bool was_cancelled = state.cancelled() != earlier;
    if (outcome.failure && (was_cancelled || !outcome.has_lost)) {
        std::rethrow_exception(outcome.failure);
    }
    if constexpr (std::is_void_v<T>) {
        co_return outcome.value.has_value();
    } else {
        co_return std::move(outcome.value);
    }
}

} // namespace skep

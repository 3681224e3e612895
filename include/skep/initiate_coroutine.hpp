// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/initiate.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <type_traits>
#include <utility>

namespace skep::detail {

/// Runs a coroutine on the caller's executor, and completes the caller. Instantiated in the library, for its
/// operations.
template <class T>
void run_coroutine(boost::asio::awaitable<T> coroutine, completion<T>&& caller);

/// Begins an operation that is a coroutine, and returns the result of the token. The default token awaits the
/// coroutine itself. With another token, the coroutine runs on the handler's executor, by default
/// `executor()`.
/// Cancellation: the handler's cancellation slot cancels the coroutine with type terminal.
template <class T, class Token, class Executor>
auto initiate_coroutine(Token&& token, const Executor& executor, boost::asio::awaitable<T> operation) {
    if constexpr (std::is_same_v<std::decay_t<Token>, default_token>) {
        return operation;
    } else {
        const auto start = [](completion<T>&& caller, boost::asio::awaitable<T>&& coroutine) {
            run_coroutine(std::move(coroutine), std::move(caller));
        };
        return initiate<T>(std::forward<Token>(token), executor, start, std::move(operation));
    }
}

/// Returns the default executor of handlers, for an operation without an executor.
SKEP_API boost::asio::any_io_executor system_executor();

/// The same for an operation without an executor: the default executor of handlers is the system executor.
template <class T, class Token>
auto initiate_coroutine(Token&& token, boost::asio::awaitable<T> operation) {
    return initiate_coroutine<T>(std::forward<Token>(token), system_executor, std::move(operation));
}

} // namespace skep::detail

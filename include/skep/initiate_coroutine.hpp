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

/// Runs a coroutine for a caller, on its executor. Instantiated in the library, for each T that an operation has.
template <class T>
void run_coroutine(boost::asio::awaitable<T> coroutine, completion<T>&& caller);

/// Begins an operation that is a coroutine, as the token has it. The default token awaits the coroutine itself. With another
/// token, the coroutine runs on the handler's executor, by default `executor()`, and a cancellation slot cancels it by type
/// terminal.
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

/// The executor of handlers that have none, of an operation that has none either.
SKEP_API boost::asio::any_io_executor system_executor();

/// The same for an operation without an executor of its own: a handler that has none runs on the system executor.
template <class T, class Token>
auto initiate_coroutine(Token&& token, boost::asio::awaitable<T> operation) {
    return initiate_coroutine<T>(std::forward<Token>(token), system_executor, std::move(operation));
}

} // namespace skep::detail

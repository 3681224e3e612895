// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/initiate.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/system_executor.hpp>

#include <type_traits>
#include <utility>

namespace skep::detail {

/// Begins an operation that is a coroutine, as the token has it. The default token awaits the coroutine itself. With another
/// token, the coroutine runs on the handler's executor, by default `executor()`, and a cancellation slot cancels it by type
/// terminal.
template <class T, class Token, class Executor>
auto initiate_coroutine(Token&& token, const Executor& executor, boost::asio::awaitable<T> operation) {
    if constexpr (std::is_same_v<std::decay_t<Token>, default_token>) {
        return operation;
    } else {
        const auto start = [](completion<T>&& caller, boost::asio::awaitable<T>&& coroutine) {
            const auto target = caller.get_executor();
            boost::asio::co_spawn(target, std::move(coroutine), std::move(caller));
        };
        return initiate<T>(std::forward<Token>(token), executor, start, std::move(operation));
    }
}

/// The same for an operation without an executor of its own: a handler that has none runs on the system executor.
template <class T, class Token>
auto initiate_coroutine(Token&& token, boost::asio::awaitable<T> operation) {
    const auto executor = [] { return boost::asio::any_io_executor(boost::asio::system_executor()); };
    return initiate_coroutine<T>(std::forward<Token>(token), executor, std::move(operation));
}

} // namespace skep::detail

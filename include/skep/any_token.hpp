// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// The operations of a pool with any completion token of Asio beside co_await: a callback, use_future, deferred,
/// detached ... Apart, as programs that only co_await need not compile it.
///
///     std::future<skep::reply> answer = skep::with_token(pool.execute(req), pool, boost::asio::use_future);

#pragma once

#include <skep/pool.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace skep {

/// Begins an operation of `workers`, such as workers.execute(req), and completes `token` with void(std::exception_ptr, T), or
/// void(std::exception_ptr) where the operation has no result; what the pointer holds is a skep::error.
///
/// Executor: a completion handler runs on its associated executor, by default that of the pool (not its strand).
/// Cancellation: by the handler's cancellation slot, of type terminal.
template <class T, class Token>
auto with_token(boost::asio::awaitable<T> operation, const pool& workers, Token&& token) {
    return boost::asio::co_spawn(workers.get_executor(), std::move(operation), std::forward<Token>(token));
}

} // namespace skep

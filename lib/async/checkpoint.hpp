// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace skep {

namespace asio = boost::asio;

/// Throws operation_aborted if the awaiting coroutine was cancelled. Asio throws only at the next co_await
/// after a wait; this function prevents the work in between.
inline asio::awaitable<void> end_if_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

/// Throws error(errc::cancelled) if `state` is cancelled.
inline void heed(const asio::cancellation_state& state) {
    if (state.cancelled() != asio::cancellation_type::none) {
        throw error(errc::cancelled, {});
    }
}

/// Yields the executor to other handlers once.
inline asio::awaitable<void> end_turn() {
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

namespace skep {

namespace asio = boost::asio;

/// Throws operation_aborted if the coroutine that awaits this has been cancelled. Asio does so at the next co_await after
/// a wait; but what the coroutine does in between is then not to be done any more.
inline asio::awaitable<void> end_if_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

} // namespace skep

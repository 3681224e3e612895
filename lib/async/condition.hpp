// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/cancelled.hpp"
#include "async/timer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace skep {

/// Lets coroutines wait until something has changed, and then look at the facts themselves. On one strand.
class condition {
public:
    explicit condition(const strand& executor) : timer_(executor, time_point::max()) {}

    /// Returns after the next notify_all(), or throws operation_aborted if the coroutine is cancelled. There is none in
    /// between if the facts are looked at right before.
    asio::awaitable<void> wait() {
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await timer_.async_wait(std::move(token));
        co_await end_if_cancelled();
    }

    void notify_all() { timer_.cancel(); }

private:
    timer timer_;
};

} // namespace skep

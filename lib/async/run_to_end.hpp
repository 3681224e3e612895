// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace skep {

/// Runs `work` on `executor`, and waits for its end. A cancellation of the caller does not cancel `work`.
inline asio::awaitable<void> run_to_end(strand executor, asio::awaitable<void> work) {
    auto token = asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable);
    auto running = asio::co_spawn(executor, std::move(work), std::move(token));
    co_await std::move(running);
}

} // namespace skep

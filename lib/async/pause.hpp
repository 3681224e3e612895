// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"

#include <boost/asio/awaitable.hpp>

namespace skep {

/// Returns at `end`; throws operation_aborted if the coroutine is cancelled. Safe without memory: a timer
/// awaited with plain use_awaitable is not, because an exception that cannot be allocated on cancellation
/// leaves io_context::run().
inline asio::awaitable<void> pause_until(strand executor, time_point end) {
    latch never(executor);
    co_await never.wait_until(end);
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"

#include <boost/asio/awaitable.hpp>

namespace skep {

/// Returns at `end`; throws operation_aborted if the coroutine is cancelled. To await a timer by use_awaitable alone is
/// another matter: where that is cancelled and there is no memory for the exception, it leaves io_context::run().
inline asio::awaitable<void> pause_until(strand executor, time_point end) {
    latch never(executor);
    co_await never.wait_until(end);
}

} // namespace skep

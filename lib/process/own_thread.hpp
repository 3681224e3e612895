// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/pool_executor.hpp"
#include <skep/wait_mode.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace skep {

/// Starts a thread that runs an execution context of its own, and returns the executor of that context.
/// Thread and context end with the last executor of the context. If the context of `user_executor` is
/// destroyed earlier, its destructor joins the thread, and destroys the coroutines of the thread while the
/// user's context still exists. The memory of the thread's context remains until the last executor. A forked
/// copy of the process leaves thread and context alone.
/// Throws std::system_error if the thread cannot be started.
pool_executor start_own_thread(const asio::any_io_executor& user_executor, wait_mode wait);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/pool_context.hpp"
#include <skep/wait_mode.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace skep {

/// Returns the context of a pool on this machine, with real clocks and randomness.
pool_context make_local_context(asio::any_io_executor executor);

/// Moves a new context to a thread of its own: see start_own_thread().
void move_to_own_thread(pool_context& context, wait_mode wait);

} // namespace skep

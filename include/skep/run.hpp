// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace skep {

/// Runs a program around one pool: starts it, runs `main(pool)` to its end, and shuts it down, whatever happened to
/// main. Blocks; everything runs on the calling thread, in an io_context of its own, which is the executor of `main`.
///
/// The first SIGINT or SIGTERM is a drain: what main waits for other than a running call ends (by cancellation of type
/// total), calls that workers have finish within stop.drain, new ones fail with errc::shutting_down; then whatever main
/// still waits for is cancelled. How main ends after a signal does not matter, as long as it does. The second signal
/// has its usual effect, as both have before and after. What main has spawned and left behind is given a second when
/// all else is done, to send its last answers, and is then destroyed.
///
/// Returns what the program's own main() should: 0, or 130 after SIGINT. Throws what start() throws, and what `main`
/// throws unless a signal came first; errc::invalid_config.
SKEP_API int run(pool_config config, std::function<boost::asio::awaitable<void>(pool&)> main);

} // namespace skep

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
/// total), calls that workers have finish within stop.drain_timeout, and new ones fail with errc::shutting_down. From
/// then on each co_await of main itself throws, as Asio has it for a cancelled coroutine: what is still to be done with
/// the answers of such calls belongs into coroutines that main spawns. How main ends after a signal does not matter.
/// Another one that comes 200 ms later or more has the effect that it had before run(), as both have afterwards; one that
/// was ignored stays so.
///
/// When the pool is down, main and what it has spawned get a second to send their last answers. What is left then is
/// destroyed, after the pool and before `main`: its destructors must not touch the pool.
///
/// Returns what the program's own main() should: 0, or 130 after SIGINT. Throws what start() throws, and what `main`
/// throws unless a signal came first; errc::invalid_config.
SKEP_API int run(pool_config config, std::function<boost::asio::awaitable<void>(pool&)> main);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/context_group.hpp>
#include <skep/export.hpp>
#include <skep/pool.hpp>
#include <skep/pool_config.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace skep {

/// Runs a program around one pool: starts the pool, runs `main(pool)` to its end, and shuts the pool down,
/// however `main` ended. Blocks the calling thread and runs everything on it, in an io_context of its own,
/// except a pool with pool_thread::own. `main` runs on the executor of this io_context. See pool_config::wait
/// for the waits of the thread.
///
/// Signals: the first SIGINT or SIGTERM starts a drain. Waits of `main` end by cancellation (total), except
/// waits for running calls. Running calls may finish within stop.drain_timeout, and new calls fail with
/// errc::shutting_down. From then on, each co_await of `main` itself throws, as Asio specifies for a
/// cancelled coroutine. Therefore work on the answers of running calls belongs into coroutines that `main`
/// spawns. After a signal, the outcome of `main` is ignored. A second signal, at least 200 ms later, has the
/// effect that it had before run(). run() restores both signals at its end. A signal that was ignored before
/// run() stays ignored.
///
/// Shutdown: after the end of the pool, `main` and its spawned coroutines have one second to send their last
/// answers. The coroutines that remain are then destroyed, after the pool and before `main`: their
/// destructors must not touch the pool.
///
/// Returns the exit status for the program's main(): 0, or 130 after SIGINT.
/// Throws the errors of start(), errc::invalid_config, and the exceptions of `main` unless a signal came
/// first.
SKEP_API int run(pool_config config, std::function<boost::asio::awaitable<void>(pool&)> main);

/// As run() above, on several threads with one execution context each. The calling thread runs the pool and
/// `main(pool, contexts)`. `main` spawns the coroutines that may run on other threads, at `contexts.next()`;
/// the end of `main` does not cancel them.
/// Shutdown: after the end of the pool, the contexts run for one more second, on new threads, or until they
/// have no work left. The calling thread then destroys the coroutines that remain.
/// Throws the errors of the other run(); errc::invalid_config if the number of threads is out of range;
/// std::system_error if a thread could not be started; and the first exception that leaves a handler on any
/// thread.
SKEP_API int run(pool_config config, std::function<boost::asio::awaitable<void>(pool&, context_group&)> main,
                 threads number);

} // namespace skep

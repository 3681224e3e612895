// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/export.hpp>
#include <skep/launch_options.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <chrono>
#include <memory>

namespace skep {

class call_interface;

/// Hooks of the program into the lives of a pool's workers: fetch a model before the first worker; give each
/// worker a device, a port or a directory; warm a worker up before it serves; release a worker's resources.
/// Override the functions that you need; each does nothing by default.
///
/// To derive a class, include Asio's awaitable too, for example by <skep/pool.hpp>.
///
/// Exceptions: an exception of a hook rejects the start or the worker; its text is reported.
/// Cancellation: each hook has a deadline. A hook is cancelled (terminal) when its deadline passes, the pool
/// shuts down or the worker dies. The pool then waits for the hook only briefly.
/// Executor: hooks are coroutines on the pool's strand. They may wait, but must not block. Hooks for
/// different workers overlap.
/// Lifetime: parameters are copies that belong to the hook; `calls` lives as long as the hook's coroutine.
class SKEP_API initialization_delegate {
public:
    virtual ~initialization_delegate();

    /// Called before start() launches the first worker, and again when a failed start is repeated. An
    /// exception, or initialization_options::before_first_worker_timeout, fails the start with start_failed,
    /// and is its cause.
    virtual boost::asio::awaitable<void, boost::asio::any_io_executor> before_first_worker();

    /// Called before each launch, also of replacements. `options`: pool_config::launch, as it applies to the
    /// worker's slot.
    /// Returns the options to launch with: program, arguments, environment and directory may differ, by the
    /// same rules. An exception rejects the launch: a failed start with initialization_failed, and the slot
    /// is tried again after a backoff. The hook's time is part of start.timeout.
    virtual boost::asio::awaitable<launch_options, boost::asio::any_io_executor> before_launch(
        worker_id worker, launch_options options);

    /// Called when a worker is ready, before it gets calls of the pool. An exception is a failed start with
    /// initialization_failed. The hook's time is part of start.timeout.
    ///
    /// `calls` runs calls on this worker only, while the coroutine runs: any number at a time, from any
    /// thread. A call is sent once, and only the timeout and deadline of its request apply. The pool's
    /// counters do not include these calls. Their errors: the errors in a worker's answer, timeout,
    /// cancelled, invalid_request (also for a call of a strict session), frame_too_large and worker_lost.
    virtual boost::asio::awaitable<void, boost::asio::any_io_executor> warm_up(worker_id worker,
                                                                               call_interface& calls);

    /// Called once after the end of each worker, also of a worker that before_launch rejected or that never
    /// ran (pid 0). shutdown() and a failed start() wait until every after_end() has ended, each for at most
    /// initialization_options::after_end_timeout. A replacement does not wait for after_end(). An exception
    /// is logged.
    virtual boost::asio::awaitable<void, boost::asio::any_io_executor> after_end(worker_exit end);

protected:
    initialization_delegate() = default;
    initialization_delegate(const initialization_delegate&) = default;
    initialization_delegate(initialization_delegate&&) noexcept = default;
    initialization_delegate& operator=(const initialization_delegate&) = default;
    initialization_delegate& operator=(initialization_delegate&&) noexcept = default;
};

/// The hooks of a pool, and their time limits.
struct initialization_options {
    std::shared_ptr<initialization_delegate> delegate;               ///< null: no hooks
    duration before_first_worker_timeout = std::chrono::seconds(60); ///< 1 ms..24 h
    duration after_end_timeout = std::chrono::seconds(5);            ///< 1 ms..1 h
};

} // namespace skep

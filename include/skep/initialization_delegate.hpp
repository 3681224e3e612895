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

/// What a program has to do of its own around the lives of a pool's workers: fetch a model before the first one, give
/// each a device, a port or a directory, warm it up before it serves, and take back what it had. Derive from it what is
/// needed; every function does nothing by default.
///
/// All are coroutines on the pool's strand: they may wait, but must not block. Those for different workers overlap. What
/// they throw is a refusal, whose text is reported. Each has a deadline; when that has passed, or nobody is interested
/// any more, as the pool shuts down or the worker has died, it is cancelled (terminal), and not waited for much longer.
/// Parameters are the hook's own copies but for `calls`, which lives as long as the hook's coroutine.
///
/// To derive from it, include Asio's awaitable too, as <skep/pool.hpp> does.
class SKEP_API initialization_delegate {
public:
    virtual ~initialization_delegate();

    /// Before the first worker of a start() is launched; again if a start that has failed is repeated. An exception, or
    /// initialization_options::before_first_worker_timeout, fails the start: start_failed, with that as its cause.
    virtual boost::asio::awaitable<void, boost::asio::any_io_executor> before_first_worker();

    /// Before each launch, of replacements too. `options` is what pool_config::launch makes of the worker's slot; the
    /// result is launched: program, arguments, environment and directory may be others, by the same rules. An exception
    /// refuses the launch, which counts as a failed start: initialization_failed, and the slot is tried again with
    /// backoff. Its time is part of start.timeout.
    virtual boost::asio::awaitable<launch_options, boost::asio::any_io_executor> before_launch(
        worker_id worker, launch_options options);

    /// Once a worker is ready, before it gets calls of the pool's. `calls` runs calls on that worker alone, any number at
    /// a time, from any thread, while this coroutine runs: their errors are those that a worker's answer can be, timeout,
    /// cancelled, invalid_request, frame_too_large and worker_lost; they are sent once, and have the timeout and
    /// deadline of the request only; no counter of the pool knows of them. An exception is a failed start:
    /// initialization_failed. Its time is part of start.timeout. A call of a strict session is refused: invalid_request.
    virtual boost::asio::awaitable<void, boost::asio::any_io_executor> warm_up(worker_id worker,
                                                                               call_interface& calls);

    /// After the end of a worker, whatever that was: one that before_launch refused, or that never ran, included (pid 0).
    /// Called once for each. Neither its successor waits for that nor anything else but shutdown(), and a start() that
    /// has failed, which return once all have ended, or initialization_options::after_end_timeout. What it throws is
    /// logged.
    virtual boost::asio::awaitable<void, boost::asio::any_io_executor> after_end(worker_exit end);

protected:
    initialization_delegate() = default;
    initialization_delegate(const initialization_delegate&) = default;
    initialization_delegate(initialization_delegate&&) noexcept = default;
    initialization_delegate& operator=(const initialization_delegate&) = default;
    initialization_delegate& operator=(initialization_delegate&&) noexcept = default;
};

/// Who takes part in the start and the end of workers, and how long that may take.
struct initialization_options {
    std::shared_ptr<initialization_delegate> delegate;               ///< none by default
    duration before_first_worker_timeout = std::chrono::seconds(60); ///< 1 ms..24 h
    duration after_end_timeout = std::chrono::seconds(5);            ///< 1 ms..1 h
};

} // namespace skep

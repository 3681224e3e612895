// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// The thread that runs a pool: its I/O, its timers, the tools, the initialization delegate, the custom
/// scheduler and the output handler. In both cases, handlers without an executor and the log handler run on
/// the executor that the pool was constructed with.
enum class pool_thread {
    caller, ///< the threads that run the executor that the pool was constructed with

    /// A thread of the pool's own, with an execution context of its own. The pool does not keep the executor
    /// that it was constructed with at work. Testing pools ignore this value.
    /// Thread safety: tools, delegates and the output handler must not touch objects of other threads without
    /// synchronisation.
    /// Exceptions: an exception that leaves a handler on the thread ends the process by std::terminate(), as
    /// with boost::asio::thread_pool. Exceptions of tools, delegates and output handlers do not leave it.
    /// Lifetime: the constructor of the pool starts the thread. The thread ends after the pool has ended and
    /// is destroyed, together with the streams and other objects that use the thread's executor. The
    /// destructor of the execution context that the pool was constructed with ends the thread at the latest:
    /// the destructor waits for the function that runs on the thread.
    own
};

} // namespace skep

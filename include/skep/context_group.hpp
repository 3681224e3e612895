// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/wait_mode.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>

namespace skep {

/// A number of threads, for skep::run and context_group.
struct threads {
    /// Names a number of threads.
    explicit constexpr threads(std::size_t number) noexcept : count(number) {}

    std::size_t count; ///< 1..1024
};

/// Execution contexts with one thread each: a service uses several cores, and during a run each coroutine
/// stays on one thread. An io_context that several threads run moves the work of a pool from thread to
/// thread, and wakes a thread each time.
///
///     skep::context_group contexts(skep::threads(4));
///     skep::pool workers(contexts.first(), config);
///     boost::asio::co_spawn(contexts.first(), live(workers), on_end); // live() starts the pool
///     contexts.run(); // until contexts.stop()
///
/// Thread safety: next(), first(), size() and stop() may be called from any thread; the other functions from
/// one thread at a time.
class SKEP_API context_group {
public:
    using executor_type = boost::asio::io_context::executor_type;

    /// Makes the contexts; starts no thread. `wait` says how each thread waits for work.
    /// Throws error(errc::invalid_config) if the number of threads is out of range.
    explicit context_group(threads number, wait_mode wait = wait_mode::adaptive);

    /// Ends pools and coroutines of all contexts, the first context first, and then destroys the contexts. No
    /// thread may be in run() or run_for().
    ~context_group();

    context_group(const context_group&) = delete;
    context_group& operator=(const context_group&) = delete;

    std::size_t size() const noexcept; ///< the number of contexts

    /// Returns the executor of the first context, the one of the thread that calls run(): the place for a
    /// pool.
    executor_type first() const noexcept;

    /// Returns the executor of the next context in turn, the first one included: the place for a coroutine.
    executor_type next() noexcept;

    /// Runs every context until stop(): the first on the calling thread, each of the others on a thread that
    /// ends before run() returns.
    /// Throws the first exception that left a handler, after all contexts have stopped; std::system_error if
    /// a thread could not be started.
    void run();

    /// As run(), but each context stops when it has no work left, and all stop after the time `at_most`.
    void run_for(duration at_most);

    /// Runs the ready handlers of each context, all on the calling thread, without waiting.
    void poll();

    /// Makes run() and run_for() return as soon as possible. Later runs return at once, until restart().
    void stop() noexcept;

    /// Prepares for another run after stop(), or after a run_for() that ended for lack of work.
    void restart();

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace skep

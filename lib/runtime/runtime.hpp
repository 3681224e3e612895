// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "runtime/byte_stream.hpp"
#include <skep/exit_status.hpp>
#include <skep/launch_options.hpp>
#include <skep/worker_id.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// What a runtime needs to know to start one worker.
struct launch_order {
    worker_id worker;
    std::string token; ///< the worker proves with it that it is the one that was started
    std::optional<launch_options> launch = {}; ///< instead of the pool's
};

/// The process behind a worker, as far as a worker needs it. Used on the pool's strand.
class worker_process {
public:
    virtual ~worker_process() = default;

    virtual int pid() const noexcept = 0;

    /// Returns when the process has ended, or after abandon(). Its pid stays taken until reap().
    virtual asio::awaitable<void> ended() = 0;

    /// SIGTERM to the process and its group, unless the process is gone.
    virtual void terminate() noexcept = 0;

    /// SIGKILL, or a signal, to the process itself and not to its group; see end_group().
    virtual void kill() noexcept = 0;
    virtual void signal(int number) noexcept = 0;

    /// Has resident_bytes() measure the process of that pid, which says that it is the worker, instead of the one that
    /// was started. False, and nothing is measured, if it does not belong to what was started.
    virtual bool measure(std::int64_t pid) noexcept = 0;

    /// Resident memory in bytes, of one process; 0 if it is gone or not known.
    virtual std::uint64_t resident_bytes() const noexcept = 0;

    /// Whether the kernel has killed something for lack of memory since the process was started.
    virtual bool saw_oom_kill() const noexcept = 0;

    /// To be called once it has ended: its status. What it has printed is known then.
    virtual exit_status reap() noexcept = 0;

    /// To be called once it was reaped: gives the rest of its group a moment to end by itself, and kills what is left.
    virtual asio::awaitable<void> end_group() = 0;

    /// The end of what it printed, and of what else it said: that is to be added. What there is no memory for is left out.
    virtual std::string output_tail() const = 0;
    virtual void add_to_tail(std::string_view text) noexcept = 0;
    virtual std::uint64_t output_lines_dropped() const noexcept = 0;

    /// Reads the rest of its output until `deadline`, then ends all of the process's tasks.
    virtual asio::awaitable<void> finish(time_point deadline) = 0;

    /// It cannot be ended: kills its group, and makes ended() return.
    virtual void abandon() noexcept = 0;

    /// Kills and reaps it and ends its group, blocking for two seconds at most, and closes its descriptors. For when no
    /// coroutine will ever run again.
    virtual void end_now() noexcept = 0;
};

/// A started worker: its channels and its process.
struct worker_link {
    std::unique_ptr<byte_stream> data;
    std::unique_ptr<byte_stream> control; ///< none where everything goes over `data`
    std::unique_ptr<worker_process> process;
};

/// Port: starts workers. Processes on this machine by default; fakes in tests. Used on the pool's strand.
class runtime {
public:
    virtual ~runtime() = default;

    /// Throws error(spawn_failed).
    virtual asio::awaitable<worker_link> start(launch_order order) = 0;

    /// Makes the start() of `id`, if it has not returned yet, do so soon.
    virtual void cancel_start(const worker_id& id) noexcept = 0;

    /// Ends what start() is doing and releases what the runtime holds beyond its workers (a thread); start() may
    /// be called again afterwards.
    virtual void close() = 0;
};

} // namespace skep

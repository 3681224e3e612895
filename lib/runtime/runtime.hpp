// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "runtime/byte_stream.hpp"
#include "runtime/memory_line.hpp"
#include "runtime/session_homes.hpp"
#include <skep/exit_status.hpp>
#include <skep/launch_options.hpp>
#include <skep/remote_status.hpp>
#include <skep/template_status.hpp>
#include <skep/worker_id.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// An order to start one worker.
struct launch_order {
    worker_id worker;
    std::string token;                         ///< authenticates the started worker
    std::optional<launch_options> launch = {}; ///< overrides the pool's options
};

/// The process of a worker. Used on the pool's strand.
class worker_process {
public:
    virtual ~worker_process() = default;

    virtual int pid() const noexcept = 0;

    /// The path of the started program: of a prefix, if there is one.
    virtual const std::string& program() const noexcept = 0;

    /// Returns when the process has ended, or after abandon(). The kernel keeps the pid reserved until
    /// reap().
    virtual asio::awaitable<void> ended() = 0;

    /// Sends SIGTERM to the process and its group, unless the process has ended.
    virtual void terminate() noexcept = 0;

    /// Both send a signal, SIGKILL or `number`, to the process itself and not to its group; see end_group().
    virtual void kill() noexcept = 0;
    virtual void signal(int number) noexcept = 0;

    /// Makes resident_bytes() measure process `pid`, which reports itself as the worker, instead of the
    /// started process. Returns false and disables the measurement if `pid` does not belong to the started
    /// process.
    virtual bool measure(std::int64_t pid) noexcept = 0;

    /// Returns the resident memory of the measured process in bytes; 0 if it has ended or is unknown. Without
    /// the memory that a forked worker had at the call of measure(), and without `lent_bytes` of memory that
    /// the host has lent to the worker, as far as the worker has mapped them.
    virtual std::uint64_t resident_bytes(std::uint64_t lent_bytes) const noexcept = 0;

    /// Returns true if the kernel has killed any process for lack of memory since the start of this process.
    virtual bool saw_oom_kill() const noexcept = 0;

    /// Collects the exit status; the captured output is complete up to the end. Preconditions: the process
    /// has ended.
    virtual exit_status reap() noexcept = 0;

    /// Gives the rest of the group a moment to end by itself, then kills it. Preconditions: reap() was
    /// called.
    virtual asio::awaitable<void> end_group() = 0;

    /// The end of the process's output, and of texts added with add_to_tail(). Text without memory for it is
    /// left out.
    virtual std::string output_tail() const = 0;
    virtual void add_to_tail(std::string_view text) noexcept = 0;
    virtual std::uint64_t output_lines_dropped() const noexcept = 0;

    /// Reads the remaining output until `deadline`, then ends all tasks of the process.
    virtual asio::awaitable<void> finish(time_point deadline) = 0;

    /// Called if the process cannot be ended: kills its group, and makes ended() return.
    virtual void abandon() noexcept = 0;

    /// Kills and reaps the process, ends its group, and closes its descriptors. Blocks for two seconds at
    /// most. Called when coroutines no longer run.
    virtual void end_now() noexcept = 0;
};

/// The channels and the process of a started worker.
struct worker_link {
    std::unique_ptr<byte_stream> data;
    std::unique_ptr<byte_stream> control; ///< null if all frames go over `data`
    std::unique_ptr<worker_process> process;
    std::unique_ptr<memory_line> regions = nullptr; ///< null if the worker cannot read memory of the host
    std::string node = {}; ///< the name of the node that the worker is; empty for a process of this machine
    bool is_on_trial = false; ///< the worker gets one call at a time until change_capacity()
};

/// Port: starts workers. By default workers are processes on this machine; tests use fakes. Used on the
/// pool's strand.
class runtime {
public:
    virtual ~runtime() = default;

    /// Starts a worker. Throws error(spawn_failed).
    virtual asio::awaitable<worker_link> start(launch_order order) = 0;

    /// Makes the start() of `id` return soon if it is running.
    virtual void cancel_start(const worker_id& id) noexcept = 0;

    /// Makes later starts use the present files of the program, if the runtime has loaded them before. Throws
    /// error(spawn_failed).
    virtual asio::awaitable<void> renew() { co_return; }

    /// Sets the receiver of warnings for people; called on the strand.
    virtual void on_warning(std::function<void(const std::string&)>) {}

    /// Returns the template that the workers are forked from; nullopt without launch.preload.
    virtual std::optional<template_status> look_at_template() const { return std::nullopt; }

    /// Returns the nodes that the workers are or could be; nullopt if the workers are processes.
    virtual std::optional<remote_status> look() const { return std::nullopt; }

    /// Ends running starts, and releases resources of the runtime besides its workers (a thread). start() may
    /// be called again afterwards.
    virtual void close() = 0;

    /// Waits until the resources are released, if that takes time.
    virtual asio::awaitable<void> closed() { co_return; }

    /// Returns the homes of sessions that other programs may have begun; null for workers of this pool alone.
    virtual session_homes* homes() noexcept { return nullptr; }
};

} // namespace skep

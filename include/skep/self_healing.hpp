// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace skep {

/// Checks one worker; throws if the worker is unhealthy. Runs on the pool's strand. Must honour cancellation,
/// which comes after the probe's timeout. To set a probe, include Asio's awaitable too, as <skep/pool.hpp>
/// does.
using health_probe =
    std::function<boost::asio::awaitable<void, boost::asio::any_io_executor>(worker_id id, pid_t pid)>;

/// Health checks of workers. A failure takes the worker out of rotation (degraded). The next success returns
/// the worker to rotation. A worker with `failures` failures in a row is replaced.
///
/// A worker with its own health check (the script's, `command` or `probe`) is probed when the interval has
/// passed, under load as well: as soon as a place is free, between two calls and never behind a call. Other
/// checks only show that the worker answers: a result of a call postpones such a check, an exception does
/// not. Probes of a pool take turns, and are spread over the interval: a call does not wait for a probe while
/// another worker is available.
struct health_check_options {
    bool enabled = true;                               ///< probes workers
    duration interval = std::chrono::seconds(30);      ///< between probes of a healthy worker, 10 ms..24 h
    duration timeout = std::chrono::seconds(5);        ///< per probe, 1 ms..1 h
    int failures = 3;                                  ///< failures in a row before replacement, 1..100
    duration retry_interval = std::chrono::seconds(5); ///< between probes of a degraded worker, 1 ms..1 h

    /// Command of the health check; an error is a failure. Empty: the Python SDK's worker.health_check; for a
    /// script without worker.health_check, a check that the main thread answers. A worker without any check
    /// is not probed.
    std::string command;

    /// If set, replaces `command`.
    health_probe probe;

    /// Types of exception that count as a failure of the worker and not of the call, regardless of other
    /// rules.
    std::vector<std::string> failing_errors{"MemoryError", "skep.Unhealthy"};

    /// Threshold of failed calls, by exceptions of any type or by timeouts. A worker reaches it by this many
    /// failures of one command in a row, or by many more failures than its siblings have at the same
    /// commands. Then either the worker or the input is bad. skep.Error and errors of the SDK do not count.
    /// 0..1,000,000; 0 = never. A worker with its own health check is then probed before its next call, and
    /// the result decides. A worker without one is recycled once it has twice done so much worse than its
    /// siblings, and by more than chance explains, but not twice in a row in one slot.
    std::size_t error_streak = 20;
};

/// Planned replacement of workers before they go bad. The replacement is ready before the old worker leaves,
/// and calls in flight finish. Each limit applies only if set.
///
/// A memory limit that a fresh worker reaches without its calls cannot be met. Such a worker is still
/// replaced, but less and less often, with the waits of restart_options; soft_memory gives one warning, with
/// both numbers.
struct recycle_options {
    duration age{};              ///< time since ready, 0..10,000 h; 0 = any
    std::size_t calls = 0;       ///< answered calls, including failed ones, 0..10^12; 0 = any number
    std::size_t soft_memory = 0; ///< resident bytes of the worker itself that make it due, 0..2^60; 0 = any
    std::size_t hard_memory =
        0; ///< resident bytes that end it at once, with its calls, 0 or soft_memory..2^60; 0 = any
    double jitter = 0.1;           ///< age and calls vary by this share from worker to worker, 0..0.9
    std::size_t max_recycling = 1; ///< workers being replaced at a time, 1..1000
    duration memory_interval = std::chrono::seconds(1); ///< between measurements of the memory, 10 ms..1 h
};

/// Consequences of a crash. Ends are classified (see exit_class). If the class is in taint_on, the slot's
/// next worker is held back while another worker serves.
struct crash_barrier_options {
    bool enabled = false; ///< holds workers back; the poison check is always on
    /// Names of exit_class, and exit codes, such as "77". An exit code counts only if the pool did not force
    /// the exit.
    std::vector<std::string> taint_on{"segfault", "out_of_memory", "gpu"};
    duration taint =
        std::chrono::seconds(60); ///< after the first crash; doubles with each in a row, 1 ms..24 h
    duration max_taint = std::chrono::minutes(10); ///< taint..24 h
    /// Workers that one input may crash, bring to break the protocol, or drive beyond recycle.hard_memory,
    /// before the input is refused, 1..100; 0 = any number.
    /// The input is everything that the worker sees: command, arguments, attachments, metadata and session,
    /// without correlation id and place in a trace. The calls of a session are therefore refused to that
    /// session only. A call of a lease counts by itself.
    /// If a worker had several calls at its end, none of them is blamed. A call is blamed for the memory only
    /// if the worker has grown during the call by half of the room that it had when fresh.
    int poison_crashes = 2;
    duration poison_ttl = std::chrono::minutes(10); ///< how long an input is remembered, 1 s..24 h
};

/// Resending of calls that were lost with their worker, if request::idempotent allows it.
struct retry_options {
    int attempts = 3; ///< workers that a call may be sent to, 1..100
    std::vector<duration> backoff{
        std::chrono::milliseconds(0), std::chrono::milliseconds(100), std::chrono::milliseconds(200),
        std::chrono::milliseconds(400),
        std::chrono::milliseconds(800)}; ///< before each resend; the last one repeats
    double jitter = 0.25;                ///< each wait varies by this share, 0..1

    /// Size of the retry budget in tokens. Each retry, including refused retries, takes one token; each
    /// success returns budget_ratio tokens. Retries stop while at most half of the tokens is left. Choose at
    /// least four times the capacity of a worker, so that the loss of one worker is no overload.
    /// 0..1,000,000; 0 = no budget.
    std::size_t budget = 10;
    double budget_ratio = 0.1; ///< 0.001..1
};

} // namespace skep

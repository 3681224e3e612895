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

/// Looks at one worker; throws if it is not well. Runs on the pool's strand and must honour cancellation, which comes
/// when the probe's timeout has passed. To set one, include Asio's awaitable too, as <skep/pool.hpp> does.
using health_probe =
    std::function<boost::asio::awaitable<void, boost::asio::any_io_executor>(worker_id id, pid_t pid)>;

/// Whether a worker does its job. A failure takes it out of rotation (degraded), the next success puts it back,
/// `failures` in a row remove and replace it. A worker with a health check of its own (the script's, `command` or
/// `probe`) is probed once the interval is over, under load as well: as soon as it has a place free, between two calls and
/// never behind one. A check that only shows that the worker answers is put off by the result of a call, and by no
/// exception. Probes of a pool take turns, and are spread over the interval: a call does not wait for one while
/// another worker could be had.
struct health_check_options {
    bool enabled = true;                               ///< whether workers are probed at all
    duration interval = std::chrono::seconds(30);      ///< of a healthy worker, 10 ms..24 h
    duration timeout = std::chrono::seconds(5);        ///< for one probe, 1 ms..1 h
    int failures = 3;                                  ///< in a row that remove, 1..100
    duration retry_interval = std::chrono::seconds(5); ///< of a degraded worker, 1 ms..1 h

    /// What is called; an error is a failure. Empty: the Python SDK's worker.health_check, or, where the script has
    /// none, that its main thread answers; a worker without such a check is not probed.
    std::string command;

    /// If set, used instead of `command`.
    health_probe probe;

    /// The types of exception that count as a failure of the worker and not of the call, whatever else is said of them.
    std::vector<std::string> failing_errors{"MemoryError", "skep.Unhealthy"};

    /// So many failed calls of a worker, by exceptions of whatever types or by their timeouts: bad input, or a zombie? One
    /// that fails so many calls of a command in a row, or many more than its siblings at the same commands, is probed before
    /// it gets another call if it has a health check of its own, and what that finds decides. One without is recycled
    /// once it has done so much worse than its siblings twice, and by more than chance explains; not twice in a row in one
    /// slot. skep.Error and what the SDK refuses do not count. 0..1,000,000; 0 = never.
    std::size_t error_streak = 20;
};

/// Replacing workers before they go bad. The replacement is ready before the old one leaves, and calls in flight
/// finish. No limit applies unless set.
///
/// A limit of memory that a fresh worker reaches, not by its calls, is never met. Such a worker is replaced all the same,
/// but less and less often, with the waits of restart_options; of soft_memory there is one warning, with both numbers.
struct recycle_options {
    duration age{};                ///< since ready, 0..10,000 h; 0 = any
    std::size_t calls = 0;         ///< answered, failed ones included, 0..10^12; 0 = any number
    std::size_t soft_memory = 0;   ///< resident bytes of the worker itself that make it due, 0..2^60; 0 = any
    std::size_t hard_memory = 0;   ///< that end it at once, with its calls, 0 or soft_memory..2^60; 0 = any
    double jitter = 0.1;           ///< age and calls vary by this share from worker to worker, 0..0.9
    std::size_t max_recycling = 1; ///< workers being replaced at a time, 1..1000
    duration memory_interval = std::chrono::seconds(1); ///< between looks at the memory, 10 ms..1 h
};

/// What follows from a crash. Ends are classified (see exit_class); those named in taint_on hold the slot's next
/// worker back, as long as another worker is there to serve.
struct crash_barrier_options {
    bool enabled = false; ///< hold back; the poison check is always on
    /// Names of exit_class, and exit codes, as "77"; with such a code only an exit that the pool did not force.
    std::vector<std::string> taint_on{"segfault", "out_of_memory", "gpu"};
    duration taint =
        std::chrono::seconds(60); ///< after the first crash; doubles with each in a row, 1 ms..24 h
    duration max_taint = std::chrono::minutes(10); ///< taint..24 h
    /// Workers that the same input may crash, make break the protocol or drive beyond recycle.hard_memory, before it is
    /// refused, 1..100; 0 = any number. The input is all that the worker sees: command, arguments, attachments, metadata and
    /// session, so that a session's calls are refused to that session only; not correlation id and place in a trace. A call
    /// of a lease counts for itself. Of a worker that was at several calls nobody knows which one it was: none is blamed.
    /// A call is blamed for the memory if the worker has grown by half of the room that it had when fresh since it has it.
    int poison_crashes = 2;
    duration poison_ttl = std::chrono::minutes(10); ///< how long an input is remembered, 1 s..24 h
};

/// Sending calls again that were lost with their worker, where request::idempotent allows it.
struct retry_options {
    int attempts = 3; ///< workers a call may be sent to, 1..100
    std::vector<duration> backoff{
        std::chrono::milliseconds(0), std::chrono::milliseconds(100), std::chrono::milliseconds(200),
        std::chrono::milliseconds(400),
        std::chrono::milliseconds(800)}; ///< before each resend; the last one repeats
    double jitter = 0.25;                ///< each wait varies by this share, 0..1

    /// Retries stop while no more than half of so many tokens is left: each retry, refused ones included, takes one,
    /// each success gives back budget_ratio. At least four times the capacity of a worker, so that the loss of one is
    /// no overload. 0..1,000,000; 0 = no budget.
    std::size_t budget = 10;
    double budget_ratio = 0.1; ///< 0.001..1
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/circuit_breaker.hpp>
#include <skep/error.hpp>
#include <skep/export.hpp>
#include <skep/remote_status.hpp>
#include <skep/template_status.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace skep {

/// The phase of a pool between its construction and the end of its shutdown.
enum class pool_phase {
    created,
    starting,
    running,
    stopping,
    stopped,
    failed ///< lack of memory for the pool's own needs, or a scheduler broke a rule; may be started again
};

/// Returns the name of the enumerator, such as "running".
SKEP_API std::string_view to_string(pool_phase phase) noexcept;
SKEP_API std::string_view to_string(circuit_state state) noexcept;

/// A running call in a snapshot of status().
struct running_call {
    std::string command;        ///< the command
    std::string correlation_id; ///< id of the call in logs
    std::string session;        ///< empty without one
    duration run_time{};        ///< time since the call was sent
};

/// The result of one health probe.
struct probe_result {
    worker_id worker;                           ///< the worker that was probed
    std::chrono::system_clock::time_point at{}; ///< when the probe ended
    duration took{};                            ///< duration of the probe
    bool passed = false;                        ///< true if the worker is healthy
    std::string complaint;                      ///< why the worker is not healthy; empty if it is healthy
    boost::json::value value;                   ///< result of the health check; null if larger than 16 KiB
};

/// One worker in a snapshot of status().
struct worker_status {
    worker_id id;                                  ///< id of the worker
    pid_t pid = 0;                                 ///< pid of its process; 0 without a process
    std::string node;                              ///< the node that it is a link to; empty for a process
    worker_state state = worker_state::created;    ///< lifecycle state
    worker_health health = worker_health::unknown; ///< result of its health probes
    /// The worker's availability; tainted for a slot that is held back after a crash.
    availability_view availability = availability_view::recovering;
    bool retiring = false;           ///< true: takes no more calls and ends after its present calls
    std::size_t load = 0;            ///< places of `capacity` taken by calls; a batch takes one
    std::size_t capacity = 0;        ///< most calls at a time, or batches
    std::size_t leased = 0;          ///< places of `capacity` that leases hold
    std::size_t sessions = 0;        ///< sessions that the worker serves: see affinity_options
    std::size_t strict_sessions = 0; ///< strictly bound sessions among `sessions`
    std::uint64_t completed = 0;     ///< calls answered with a result or an exception
    std::uint64_t errors = 0;        ///< calls answered with an exception
    duration uptime{};               ///< time since the worker became ready
    /// Time when the worker first became ready; empty before that.
    std::optional<std::chrono::system_clock::time_point> started_at;
    std::chrono::system_clock::time_point updated_at; ///< time of the last change of state or health
    /// Memory of the process itself; of a forked worker, beyond what it had when it was forked.
    std::uint64_t resident_bytes = 0;
    std::vector<running_call> calls;           ///< the longest running calls, at most 8
    std::optional<transition> last_transition; ///< last change of state, with the reason
    std::vector<transition> transitions;       ///< last changes of state, oldest first, at most 8
    std::optional<duration> recycle_in;        ///< time until recycling by age, if age is limited
    std::string waits_to_leave;       ///< reason of a replacement that a lease or strict session delays
    std::optional<duration> held_for; ///< vacant slot: time until the next start, after failures or a crash
    std::string last_failure; ///< reason why the slot's previous worker was lost; empty if no worker was lost
    std::optional<probe_result> last_probe; ///< last health probe, if any
    /// Code that receives the calls of a Python worker: "c" for `skep._loop`, otherwise "python". Empty for
    /// other workers, and before the greeting.
    std::string loop;
    /// Memory that the host shares with the worker, as far as it has been used: lent memory, and memory of
    /// results. Empty if the worker shares none. See shared_options.
    std::optional<std::uint64_t> shared_bytes;
};

/// Totals since the construction of the pool.
struct pool_counters {
    /// Calls, including resets of leases; = succeeded + failed + in flight + queued calls.
    std::uint64_t submitted = 0;
    std::uint64_t succeeded = 0; ///< ended with a reply
    std::uint64_t failed = 0;    ///< ended with an error: remote_errors to cancelled, and other errors
    std::uint64_t waited = 0; ///< waited for a worker, or for a place of their lease, before they were sent
    std::uint64_t remote_errors = 0;   ///< the worker's code raised an exception
    std::uint64_t rejected = 0;        ///< pool_saturated
    std::uint64_t queue_timeouts = 0;  ///< queue_timeout, no_worker and no_node
    std::uint64_t timeouts = 0;        ///< timeout or deadline passed
    std::uint64_t cancelled = 0;       ///< cancelled by their callers
    std::uint64_t retried = 0;         ///< sent to another worker after one was lost
    std::uint64_t recalled = 0;        ///< given back by a worker that had not begun them: see pipeline_depth
    std::uint64_t late_answers = 0;    ///< dropped answers to calls that had already ended
    std::uint64_t retries_denied = 0;  ///< not sent again because the retry budget was spent
    std::uint64_t poisonous = 0;       ///< refused as poison
    std::uint64_t workers_started = 0; ///< became ready; = the next four + those still alive
    std::uint64_t workers_lost = 0;    ///< ended by themselves, froze, broke the protocol or lost a channel
    std::uint64_t workers_replaced = 0; ///< retired for a fault: unhealthy, overdue, too large, zombies
    std::uint64_t workers_recycled = 0; ///< replaced as planned or on request
    std::uint64_t workers_removed = 0;  ///< no longer needed: scaled down or shut down
    std::uint64_t unhealthy_workers_terminated = 0; ///< part of workers_replaced: failed health checks
    std::uint64_t crashes = 0; ///< part of workers_lost: segfault, abort, out of memory, GPU, error exit
    std::uint64_t start_failures = 0;       ///< workers that ended before they became ready
    std::uint64_t scale_ups = 0;            ///< number of times that the autoscaler added workers
    std::uint64_t scale_downs = 0;          ///< number of times that the autoscaler removed workers
    std::uint64_t missed_pings = 0;         ///< pings without an answer in time
    std::uint64_t output_lines_dropped = 0; ///< lines beyond output_options::lines_per_second
    std::uint64_t attachments_lent = 0;     ///< attachments of sent calls in memory of the host
    std::uint64_t attachments_passed = 0;   ///< attachments of sent calls in sealed memory: without a copy
    std::uint64_t attachments_received = 0; ///< attachments of workers in sealed memory: without a copy
    std::uint64_t shared_results = 0;       ///< attachments of workers in regions for results
    std::uint64_t shared_fallbacks = 0; ///< large attachments that went over the socket for lack of memory
    std::uint64_t busy_answers = 0;     ///< refusals by nodes that had no room for a call; see remote_pool
};

/// A consistent snapshot of a pool.
struct pool_status {
    std::string name;                       ///< as in pool_config::name
    pool_phase phase = pool_phase::created; ///< phase of the pool
    bool suspended = false;                 ///< true if the pool as a whole is suspended
    std::size_t desired = 0;                ///< wanted number of workers
    std::size_t live = 0;                   ///< workers that are ready, busy, degraded or suspended
    std::size_t starting = 0;               ///< workers that are coming up
    std::size_t retiring = 0;               ///< workers that are leaving
    /// Calls and checkouts that wait for a worker, for a place of their lease, or for a retry.
    std::size_t queued = 0;
    duration oldest_wait{};    ///< wait of the first in the queue
    std::size_t in_flight = 0; ///< calls at workers
    std::size_t leases = 0;    ///< leases that are checked out
    std::size_t sessions = 0;  ///< sessions with a known worker, present or past: see affinity_options
    circuit_state breaker = circuit_state::closed; ///< for starts of workers; see restart_options::limit
    std::size_t restarts_left = 0;          ///< unplanned ends that restart_options::window still allows
    double retry_tokens = 0;                ///< see retry_options::budget
    std::optional<error_info> last_failure; ///< failure of the worker that failed last, if any
    std::vector<worker_status> workers;     ///< workers by slot, then leaving workers
    pool_counters counters;                 ///< totals since the construction of the pool
    std::optional<remote_status> remote;    ///< of a remote_pool: the nodes; empty for a pool of processes
    std::optional<template_status> preload; ///< of a pool with launch.preload: its template
};

/// Returns true if the pool would serve a call, at once or when a worker has room. For readiness probes.
SKEP_API bool can_serve(const pool_status& status) noexcept;

/// Returns the snapshot as JSON, for an admin endpoint or a log. Members have the names above; durations are
/// integers with the suffix _ms, enums are names; unknown values are left out. The last failure has error,
/// worker and exit, without the output of the worker.
SKEP_API boost::json::object to_json(const pool_status& status);

/// Returns the pool, its workers and their calls, coloured by health, as a flowchart for Mermaid.
SKEP_API std::string to_mermaid(const pool_status& status);

/// Returns the worker states, the number of workers in each, and the possible changes, as a state diagram for
/// Mermaid.
SKEP_API std::string states_to_mermaid(const pool_status& status);

} // namespace skep

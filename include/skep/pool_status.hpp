// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/circuit_breaker.hpp>
#include <skep/error.hpp>
#include <skep/export.hpp>
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

/// Where a pool is between its construction and the end of its shutdown.
enum class pool_phase {
    created,
    starting,
    running,
    stopping,
    stopped,
    failed ///< it had no memory for what it needs itself, or its scheduler broke a rule; may be started again
};

/// Its name here, such as "running".
SKEP_API std::string_view to_string(pool_phase phase) noexcept;
SKEP_API std::string_view to_string(circuit_state state) noexcept;

/// A call that a worker has, as status() saw it.
struct running_call {
    std::string command;        ///< what is called
    std::string correlation_id; ///< under which logs tell of it
    std::string session;        ///< empty without one
    duration run_time{};        ///< since it was sent
};

/// The result of one health probe.
struct probe_result {
    worker_id worker;                           ///< the worker that was probed
    std::chrono::system_clock::time_point at{}; ///< when the probe ended
    duration took{};                            ///< how long it took
    bool passed = false;                        ///< whether the worker is healthy
    std::string complaint;                      ///< why it is not; empty if it is
    boost::json::value value; ///< what its health check returned; null if that takes more than 16 KiB
};

/// One worker, as status() saw it.
struct worker_status {
    worker_id id;                                  ///< who it is
    pid_t pid = 0;                                 ///< of its process; 0 if there is none
    worker_state state = worker_state::created;    ///< where it is in its life
    worker_health health = worker_health::unknown; ///< whether it does its job
    /// Whether it can be had; tainted for a slot that is held back after a crash.
    availability_view availability = availability_view::recovering;
    bool retiring = false;           ///< takes no more calls and ends when its calls have
    std::size_t load = 0;            ///< calls it is running
    std::size_t capacity = 0;        ///< calls it can run at a time
    std::size_t leased = 0;          ///< of these places, those that leases keep
    std::size_t sessions = 0;        ///< that it serves: see affinity_options
    std::size_t strict_sessions = 0; ///< of these, those that are strictly bound to it
    std::uint64_t completed = 0;     ///< calls it answered, with a result or an exception
    std::uint64_t errors = 0;        ///< of these, with an exception
    duration uptime{};               ///< since it became ready
    /// When it first became ready; empty before that.
    std::optional<std::chrono::system_clock::time_point> started_at;
    std::chrono::system_clock::time_point updated_at; ///< when its state or health last changed
    std::uint64_t resident_bytes = 0;                 ///< memory of the process itself
    std::vector<running_call> calls;                  ///< those it has longest, at most 8
    std::optional<transition> last_transition;        ///< its last change of state, and why
    std::vector<transition> transitions;              ///< the last entries, oldest first, at most 8
    std::optional<duration> recycle_in; ///< until its age makes it due for recycling, if that is limited
    std::string waits_to_leave;       ///< why it is to be replaced, while a lease or strict session holds it
    std::optional<duration> held_for; ///< vacant slot: until it may start, after failures or a crash
    std::string last_failure;         ///< why the slot's previous worker was lost; empty if none was
    std::optional<probe_result> last_probe; ///< its last health probe, if there was one
};

/// Totals since start().
struct pool_counters {
    /// Calls, resets of leases included; = succeeded + failed + in flight + queued calls.
    std::uint64_t submitted = 0;
    std::uint64_t succeeded = 0;       ///< ended with a reply
    std::uint64_t failed = 0;          ///< ended with an error, the following five included
    std::uint64_t waited = 0;          ///< for a worker, or for a place of their lease, before they were sent
    std::uint64_t remote_errors = 0;   ///< the worker's code raised an exception
    std::uint64_t rejected = 0;        ///< pool_saturated
    std::uint64_t queue_timeouts = 0;  ///< queue_timeout and no_worker
    std::uint64_t timeouts = 0;        ///< their timeout or deadline passed
    std::uint64_t cancelled = 0;       ///< by their callers
    std::uint64_t retried = 0;         ///< sent to another worker after one was lost
    std::uint64_t late_answers = 0;    ///< answers to calls that had been given up; dropped
    std::uint64_t retries_denied = 0;  ///< not sent again because the retry budget was spent
    std::uint64_t poisonous = 0;       ///< refused as poison
    std::uint64_t workers_started = 0; ///< became ready; = the next four + those still alive
    std::uint64_t workers_lost = 0;    ///< ended by themselves, froze, broke the protocol or lost a channel
    std::uint64_t workers_replaced =
        0; ///< retired by the pool for what they did: unhealthy, overdue, too large, zombies
    std::uint64_t workers_recycled = 0;             ///< replaced as planned, or because somebody asked for it
    std::uint64_t workers_removed = 0;              ///< no longer needed: scaled down, or shut down
    std::uint64_t unhealthy_workers_terminated = 0; ///< of those replaced: for failed health checks
    std::uint64_t crashes = 0;        ///< of those lost: segfault, abort, out of memory, GPU, error exit
    std::uint64_t start_failures = 0; ///< ended before they became ready
    std::uint64_t scale_ups = 0;      ///< times that the autoscaler added workers
    std::uint64_t scale_downs = 0;    ///< times that it took some away
    std::uint64_t missed_pings = 0;   ///< left without an answer in time
    std::uint64_t output_lines_dropped = 0; ///< beyond output_options::lines_per_second
};

/// One consistent picture of a pool.
struct pool_status {
    std::string name;                       ///< as in pool_config::name
    pool_phase phase = pool_phase::created; ///< where it is in its life
    bool suspended = false;                 ///< as a whole
    std::size_t desired = 0;                ///< workers there are to be
    std::size_t live = 0;                   ///< workers that are ready, busy, degraded or suspended
    std::size_t starting = 0;               ///< workers on their way up
    std::size_t retiring = 0;               ///< workers on their way out
    /// Calls and checkouts that wait: for a worker, a place of their lease, or a retry.
    std::size_t queued = 0;
    duration oldest_wait{};    ///< of the first in the queue
    std::size_t in_flight = 0; ///< calls that workers have
    std::size_t leases = 0;    ///< that were checked out and have not been given back
    std::size_t sessions = 0; ///< of which it is known which worker serves them, or has: see affinity_options
    circuit_state breaker = circuit_state::closed; ///< of starting workers; see restart_options::limit
    std::size_t restarts_left = 0;                 ///< unplanned ends that its window tolerates
    double retry_tokens = 0;                       ///< see retry_options::budget
    std::optional<error_info> last_failure;        ///< of the worker that failed last, if any did
    std::vector<worker_status> workers;            ///< by slot, then those that are leaving
    pool_counters counters;                        ///< totals since start()
};

/// Whether a call would be served: at once, or as soon as a worker has room. For readiness probes.
SKEP_API bool can_serve(const pool_status& status) noexcept;

/// The same as JSON, for an admin endpoint or a log: members by the names above, times as integers with the suffix
/// _ms, enums by name; what is not known is left out. Of the last failure only what, who and how it ended, not what the
/// worker printed.
SKEP_API boost::json::object to_json(const pool_status& status);

/// The pool, its workers and what they are at, coloured by health, as a flowchart for Mermaid.
SKEP_API std::string to_mermaid(const pool_status& status);

/// The states of a worker's life, with how many workers are in each, and where they may go from there, as a state diagram
/// for Mermaid.
SKEP_API std::string states_to_mermaid(const pool_status& status);

} // namespace skep

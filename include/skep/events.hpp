// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <boost/describe/class.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace skep {

/// What happens in a pool, one struct for each kind of fact; see event_bus. They hold no arguments, results or
/// environments, and output only in worker_printed. What a fact does not have (a call that no worker has had yet) is
/// empty. Members of these names are the same in all of them:
///
/// - `name`: of this kind of event, as name_of() and to_json() have it
/// - `pool`: in which it has happened
/// - `worker`: which this is about
/// - `pid`: of the worker's process
/// - `reason`: why, for people
/// - `command`: of the call that this is about
/// - `correlation_id`: under which the logs tell of the call
/// - `session`: the session's id, or that of the call's; empty without one
namespace events {

/// A worker has passed from one state to another. Between ready and busy that happens with every call that takes the last
/// free place: `metadata` then names the call's `command`, `correlation_id` and `session`.
struct worker_transition {
    static constexpr std::string_view name = "worker.transition";
    worker_id worker;
    worker_state from{}; ///< the state that it left
    worker_state to{};   ///< the one that it entered
    std::string reason;
    duration time_in_state{};     ///< in `from`
    transition_reason code{};     ///< why, for programs
    boost::json::object metadata; ///< more about it, for programs
};

/// A worker's process runs.
struct worker_spawned {
    static constexpr std::string_view name = "worker.spawned";
    worker_id worker;
    int pid = 0;
    duration start_time{}; ///< since it was asked for
};

/// A worker takes calls from now on.
struct worker_ready {
    static constexpr std::string_view name = "worker.ready";
    worker_id worker;
    int pid = 0;
    duration start_time{}; ///< since it was asked for
};

/// A worker has come to its end, whether or not it was ever up.
struct worker_terminated {
    static constexpr std::string_view name = "worker.terminated";
    worker_id worker;
    int pid = 0;
    duration lifetime{};     ///< since it was asked for
    std::uint64_t calls = 0; ///< that it has answered
    std::string reason;
    bool planned = false;   ///< it was asked to end, and nothing was wrong with it
    worker_state outcome{}; ///< stopped, finished, failed or killed
    std::string status;     ///< how its process ended
};

/// A probe of a worker's health has ended.
struct worker_health_check {
    static constexpr std::string_view name = "worker.health_check";
    worker_id worker;
    duration probe_time{}; ///< how long the probe took
    bool passed = false;   ///< whether it found the worker well
    std::string complaint; ///< what it found instead
};

/// A worker makes room for one that is up already: its age, calls or memory have reached their limit, its siblings answer
/// what it fails, or somebody has asked for that.
struct worker_recycled {
    static constexpr std::string_view name = "worker.recycled";
    worker_id worker;
    std::string reason;
};

/// The slot of a worker that has crashed is held back for a while.
struct worker_tainted {
    static constexpr std::string_view name = "worker.tainted";
    worker_id worker;
    std::string exit; ///< how it ended
};

/// A worker that has failed its health checks is replaced.
struct unhealthy_worker_terminated {
    static constexpr std::string_view name = "worker.unhealthy_terminated";
    worker_id worker;
    int pid = 0;
    std::string reason;
};

/// The last free place of a worker was taken, by a call or a lease.
struct capacity_reached {
    static constexpr std::string_view name = "worker.capacity_reached";
    worker_id worker;
    std::size_t load = 0;     ///< calls that it has
    std::size_t leased = 0;   ///< places that leases keep
    std::size_t capacity = 0; ///< calls that it can run at a time
};

/// A worker has broken the protocol, and is replaced.
struct protocol_error {
    static constexpr std::string_view name = "worker.protocol_error";
    worker_id worker;
    std::string reason;
};

/// It has printed a line, or logged something. Unlike other events it holds what the worker says.
struct worker_printed {
    static constexpr std::string_view name = "worker.printed";
    worker_id worker;
    bool is_stderr = false;     ///< whether to stderr, else to stdout
    std::string text;           ///< the line, without its end
    std::string correlation_id; ///< of the call that it was at; empty if it was at none, or at several
};

/// Its code has told of something: skep.emit() or skep.span() in Python, whose name, measurements and metadata these are.
struct worker_emitted {
    static constexpr std::string_view name = "worker.emitted";
    worker_id worker;
    std::string what;                 ///< the name that it gave
    boost::json::object measurements; ///< numbers, by name
    boost::json::object metadata;     ///< other facts, by name
    std::string correlation_id;       ///< of the call that it was at; empty outside a call
    std::uint64_t dropped = 0;        ///< in its life so far, for want of room
};

/// A worker was pinged.
struct ping_sent {
    static constexpr std::string_view name = "heartbeat.ping_sent";
    worker_id worker;
};

/// A worker has answered a ping.
struct pong_received {
    static constexpr std::string_view name = "heartbeat.pong_received";
    worker_id worker;
    duration
        latency{}; ///< since the ping; if more than eight were without answer, since one of the last eight
};

/// A worker has left pings without an answer.
struct heartbeat_missed {
    static constexpr std::string_view name = "heartbeat.missed";
    worker_id worker;
    int count = 0;           ///< since the last time
    std::uint64_t total = 0; ///< in its life
};

/// A worker has left so many pings without an answer that it is taken for dead. Told before the last heartbeat_missed.
struct heartbeat_failed {
    static constexpr std::string_view name = "heartbeat.failed";
    worker_id worker;
};

/// A pool has begun to start.
struct pool_init_started {
    static constexpr std::string_view name = "pool.init_started";
    std::string pool;
    std::size_t workers = 0; ///< that are to come up
};

/// A start has ended, well or not.
struct pool_init_completed {
    static constexpr std::string_view name = "pool.init_completed";
    std::string pool;
    duration start_time{};   ///< how long it took
    std::size_t workers = 0; ///< that are up
    std::string problem;     ///< empty if it went well
};

/// The autoscaler wants more workers.
struct pool_scale_up {
    static constexpr std::string_view name = "pool.scale_up";
    std::string pool;
    std::size_t from = 0; ///< workers that it wanted before
    std::size_t to = 0;   ///< workers that it wants now
    std::string reason;
};

/// The autoscaler wants fewer workers.
struct pool_scale_down {
    static constexpr std::string_view name = "pool.scale_down";
    std::string pool;
    std::size_t from = 0; ///< workers that it wanted before
    std::size_t to = 0;   ///< workers that it wants now
    std::string reason;
};

/// A call or checkout was refused, as too many wait.
struct pool_saturated {
    static constexpr std::string_view name = "pool.saturated";
    std::string pool;
    std::size_t queued = 0; ///< how many wait
    std::size_t limit = 0;  ///< how many may: queue_options::limit
};

/// Its last worker is gone and no start is admitted: it refuses calls.
struct pool_unavailable {
    static constexpr std::string_view name = "pool.unavailable";
    std::string pool;
    std::string reason;
};

/// One that was unavailable serves again.
struct pool_available {
    static constexpr std::string_view name = "pool.available";
    std::string pool;
};

/// The circuit breaker of worker starts has changed its state: "closed", "open" or "half_open".
struct breaker_changed {
    static constexpr std::string_view name = "breaker.changed";
    std::string pool;
    std::string from; ///< its state before
    std::string to;   ///< its state now
};

/// A call waits for a worker.
struct queue_enqueued {
    static constexpr std::string_view name = "queue.enqueued";
    std::string pool;
    std::string command;
    std::string correlation_id;
    std::size_t depth = 0; ///< how many wait now
};

/// A call that has waited goes to a worker.
struct queue_dequeued {
    static constexpr std::string_view name = "queue.dequeued";
    std::string pool;
    std::string command;
    std::string correlation_id;
    duration wait_time{};  ///< since the call was made
    std::size_t depth = 0; ///< how many wait still
};

/// A call has waited for too long.
struct queue_timeout {
    static constexpr std::string_view name = "queue.timeout";
    std::string pool;
    std::string command;
    std::string correlation_id;
    duration wait_time{}; ///< since the call was made
};

/// Nobody wants a call any more that waits.
struct queue_cancelled {
    static constexpr std::string_view name = "queue.cancelled";
    std::string pool;
    std::string command;
    std::string correlation_id;
    duration wait_time{}; ///< since the call was made
};

/// A call is sent to a worker; once each time, and again if that is lost and it goes to another one.
struct request_started {
    static constexpr std::string_view name = "request.started";
    worker_id worker;
    std::string command;
    std::string correlation_id;
    std::string session;
    duration queue_time{}; ///< since the call was made
    int attempt = 1;       ///< 1 for the first worker that it goes to
};

/// A call is over; once for each, whether or not a worker has had it.
struct request_finished {
    static constexpr std::string_view name = "request.finished";
    std::string pool;
    worker_id worker; ///< empty if it was at none when it ended
    std::string command;
    std::string correlation_id;
    std::string session;
    duration queue_time{}; ///< until it was sent, the last time
    duration run_time{};   ///< since then
    duration total_time{}; ///< from when the call was made to its end
    int attempts = 0;      ///< how many workers it was sent to
    std::string outcome;   ///< "ok", or the name of its errc
};

/// A call whose worker was lost is to be sent once more.
struct request_retried {
    static constexpr std::string_view name = "request.retried";
    worker_id worker; ///< that was lost
    std::string command;
    std::string correlation_id;
    duration wait_time{}; ///< before that
    int attempts = 0;     ///< so far
};

/// A chunk of a stream has come.
struct stream_chunk {
    static constexpr std::string_view name = "stream.chunk";
    worker_id worker;
    std::string command;
    std::string correlation_id;
    std::size_t bytes = 0; ///< of its value and attachments
};

/// A worker asks for a tool.
struct tool_called {
    static constexpr std::string_view name = "tool.called";
    worker_id worker;
    std::string tool; ///< its name
    std::string command;
    std::string correlation_id;
};

/// A part of a trace is over, by W3C Trace Context. The call, as its caller sees it, is of kind "client"; within that, from
/// when it was sent to a worker the last time, "server"; within that what its code did in a skep.span(), "internal", and
/// what tools did for it, "server" again. Told only to those who have subscribed to this type, not to all.
struct span {
    static constexpr std::string_view name = "trace.span";
    std::string pool;
    worker_id worker;
    std::string what;      ///< the command, the tool, or the name given to skep.span()
    std::string_view kind; ///< "client", "server" or "internal"
    std::string trace_id;  ///< 32 hexadecimal digits
    std::string span_id;   ///< 16 of them
    std::string parent_id; ///< empty if the trace begins here
    std::chrono::system_clock::time_point start_time; ///< by the wall clock
    duration time{};                                  ///< how long it took
    std::string outcome; ///< "ok", the name of an errc, the type of an exception, or a tool_error's code
    std::string correlation_id;
    /// queue_ms, attempts and session of a call; what skep.span() was given as metadata.
    boost::json::object attributes;
};

/// A call of a session goes to a worker.
struct session_affinity {
    static constexpr std::string_view name = "session.affinity";
    worker_id worker;
    std::string session;
    std::string result; ///< "hit": the session's worker; "miss": another one, or its first
};

/// There is a new session.
struct session_created {
    static constexpr std::string_view name = "session.created";
    std::string session;
    std::size_t count = 0; ///< sessions that there are now
};

/// A session has expired. Told when that is found out, at the next clean-up at the latest; only of sessions that are
/// kept in this process.
struct session_expired {
    static constexpr std::string_view name = "session.expired";
    std::string session;
};

/// A session was removed before it expired.
struct session_removed {
    static constexpr std::string_view name = "session.removed";
    std::string session;
};

/// There are 80 % as many sessions as there may be; see session_options::on_quota_warning.
struct session_quota_warning {
    static constexpr std::string_view name = "session.quota_warning";
    std::size_t count = 0; ///< sessions that there are now
    std::size_t quota = 0; ///< sessions that there may be
};

/// A lease has been held for longer than its leak_threshold.
struct lease_leaked {
    static constexpr std::string_view name = "lease.leaked";
    worker_id worker;
    duration held_for{};    ///< since its checkout
    std::string file;       ///< the place of the checkout
    std::uint64_t line = 0; ///< in that file
    std::string function;   ///< that has called checkout()
};

BOOST_DESCRIBE_STRUCT(worker_transition, (), (worker, from, to, reason, time_in_state, code, metadata))
BOOST_DESCRIBE_STRUCT(worker_spawned, (), (worker, pid, start_time))
BOOST_DESCRIBE_STRUCT(worker_ready, (), (worker, pid, start_time))
BOOST_DESCRIBE_STRUCT(worker_terminated, (), (worker, pid, lifetime, calls, reason, planned, outcome, status))
BOOST_DESCRIBE_STRUCT(worker_health_check, (), (worker, probe_time, passed, complaint))
BOOST_DESCRIBE_STRUCT(worker_recycled, (), (worker, reason))
BOOST_DESCRIBE_STRUCT(worker_tainted, (), (worker, exit))
BOOST_DESCRIBE_STRUCT(unhealthy_worker_terminated, (), (worker, pid, reason))
BOOST_DESCRIBE_STRUCT(capacity_reached, (), (worker, load, leased, capacity))
BOOST_DESCRIBE_STRUCT(protocol_error, (), (worker, reason))
BOOST_DESCRIBE_STRUCT(worker_printed, (), (worker, is_stderr, text, correlation_id))
BOOST_DESCRIBE_STRUCT(worker_emitted, (), (worker, what, measurements, metadata, correlation_id, dropped))
BOOST_DESCRIBE_STRUCT(ping_sent, (), (worker))
BOOST_DESCRIBE_STRUCT(pong_received, (), (worker, latency))
BOOST_DESCRIBE_STRUCT(heartbeat_missed, (), (worker, count, total))
BOOST_DESCRIBE_STRUCT(heartbeat_failed, (), (worker))
BOOST_DESCRIBE_STRUCT(pool_init_started, (), (pool, workers))
BOOST_DESCRIBE_STRUCT(pool_init_completed, (), (pool, start_time, workers, problem))
BOOST_DESCRIBE_STRUCT(pool_scale_up, (), (pool, from, to, reason))
BOOST_DESCRIBE_STRUCT(pool_scale_down, (), (pool, from, to, reason))
BOOST_DESCRIBE_STRUCT(pool_saturated, (), (pool, queued, limit))
BOOST_DESCRIBE_STRUCT(pool_unavailable, (), (pool, reason))
BOOST_DESCRIBE_STRUCT(pool_available, (), (pool))
BOOST_DESCRIBE_STRUCT(breaker_changed, (), (pool, from, to))
BOOST_DESCRIBE_STRUCT(queue_enqueued, (), (pool, command, correlation_id, depth))
BOOST_DESCRIBE_STRUCT(queue_dequeued, (), (pool, command, correlation_id, wait_time, depth))
BOOST_DESCRIBE_STRUCT(queue_timeout, (), (pool, command, correlation_id, wait_time))
BOOST_DESCRIBE_STRUCT(queue_cancelled, (), (pool, command, correlation_id, wait_time))
BOOST_DESCRIBE_STRUCT(request_started, (), (worker, command, correlation_id, session, queue_time, attempt))
BOOST_DESCRIBE_STRUCT(request_finished, (),
                      (pool, worker, command, correlation_id, session, queue_time, run_time, total_time,
                       attempts, outcome))
BOOST_DESCRIBE_STRUCT(request_retried, (), (worker, command, correlation_id, wait_time, attempts))
BOOST_DESCRIBE_STRUCT(stream_chunk, (), (worker, command, correlation_id, bytes))
BOOST_DESCRIBE_STRUCT(tool_called, (), (worker, tool, command, correlation_id))
BOOST_DESCRIBE_STRUCT(span, (),
                      (pool, worker, what, kind, trace_id, span_id, parent_id, start_time, time, outcome,
                       correlation_id, attributes))
BOOST_DESCRIBE_STRUCT(session_affinity, (), (worker, session, result))
BOOST_DESCRIBE_STRUCT(session_created, (), (session, count))
BOOST_DESCRIBE_STRUCT(session_expired, (), (session))
BOOST_DESCRIBE_STRUCT(session_removed, (), (session))
BOOST_DESCRIBE_STRUCT(session_quota_warning, (), (count, quota))
BOOST_DESCRIBE_STRUCT(lease_leaked, (), (worker, held_for, file, line, function))

} // namespace events

namespace detail {

using any_event = std::variant<
    events::worker_transition, events::worker_spawned, events::worker_ready, events::worker_terminated,
    events::worker_health_check, events::worker_recycled, events::worker_tainted,
    events::unhealthy_worker_terminated, events::capacity_reached, events::protocol_error,
    events::worker_printed, events::worker_emitted, events::ping_sent, events::pong_received,
    events::heartbeat_missed, events::heartbeat_failed, events::pool_init_started,
    events::pool_init_completed, events::pool_scale_up, events::pool_scale_down, events::pool_saturated,
    events::pool_unavailable, events::pool_available, events::breaker_changed, events::queue_enqueued,
    events::queue_dequeued, events::queue_timeout, events::queue_cancelled, events::request_started,
    events::request_finished, events::request_retried, events::stream_chunk, events::tool_called,
    events::span, events::session_affinity, events::session_created, events::session_expired,
    events::session_removed, events::session_quota_warning, events::lease_leaked>;

} // namespace detail

/// Any of them: std::visit, std::get_if and std::holds_alternative tell which.
struct event : detail::any_event {
    using variant::variant;
};

/// As in "worker.ready".
SKEP_API std::string_view name_of(const event& subject) noexcept;

/// {"event": its name, ...}, for logs, pages and traces: each member under its name, a duration in milliseconds under its
/// name and "_ms", a moment in microseconds since 1970 under its name and "_us", a worker's id and an enumerator as text.
SKEP_API boost::json::object to_json(const event& subject);

} // namespace skep

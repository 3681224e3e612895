// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/unanswered_calls.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <boost/describe/class.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <variant>

namespace skep {

/// Events of a pool, one struct per kind: see event_bus. Events hold no arguments, results or environments.
/// Output of a worker is in worker_printed; `output_tail`, `reason` or `problem` of another event may quote
/// its last lines.
/// A member without a value is empty, for example `worker` of a call that has not been sent to a worker yet.
/// The following members mean the same in all events:
///
/// - `name`: the kind of event, as in name_of() and to_json()
/// - `pool`: name of the pool
/// - `worker`: the worker concerned
/// - `node`: the node that the worker is a link to; empty for a worker of this machine
/// - `pid`: process id of the worker
/// - `reason`: the cause, for people
/// - `command`: command of the call concerned
/// - `correlation_id`: id of the call concerned, as in the log
/// - `session`: id of the session, or of the call's session; empty without a session
namespace events {

/// A worker changed its state. The call or lease that takes the last free place moves the worker from ready
/// to busy. The call or lease that frees a place moves the worker back. For a call, `metadata` holds its
/// `command`, `correlation_id` and `session`.
struct worker_transition {
    static constexpr std::string_view name = "worker.transition";
    worker_id worker;
    worker_state from{}; ///< old state
    worker_state to{};   ///< new state
    std::string reason;
    duration time_in_state{};     ///< time spent in `from`
    transition_reason code{};     ///< the cause, for programs
    boost::json::object metadata; ///< further facts, for programs
};

/// The process of a worker runs.
struct worker_spawned {
    static constexpr std::string_view name = "worker.spawned";
    worker_id worker;
    int pid = 0;
    duration start_time{}; ///< since the pool requested the worker
};

/// A worker is ready for calls.
struct worker_ready {
    static constexpr std::string_view name = "worker.ready";
    worker_id worker;
    int pid = 0;
    duration start_time{}; ///< since the pool requested the worker
    std::string node{};
};

/// A worker ended. Published for workers that never became ready, too.
struct worker_terminated {
    static constexpr std::string_view name = "worker.terminated";
    worker_id worker;
    int pid = 0;
    duration lifetime{};     ///< since the pool requested the worker
    std::uint64_t calls = 0; ///< calls that the worker answered
    std::string reason;
    bool planned = false;        ///< true: the worker was told to end, and had no fault
    worker_state outcome{};      ///< stopped, finished, failed or killed
    std::string status;          ///< exit status of the process, as text
    unanswered_calls unanswered; ///< the calls that the worker had at its end; not in JSON if there are none

    /// The worker's last output, as in error_info::output_tail, if the worker was lost: it ended by itself,
    /// froze, broke the protocol or did not come up.
    std::string output_tail;
    std::string node{};
};

/// A health probe of a worker ended.
struct worker_health_check {
    static constexpr std::string_view name = "worker.health_check";
    worker_id worker;
    duration probe_time{}; ///< duration of the probe
    bool passed = false;   ///< true: the worker is healthy
    std::string complaint; ///< the problem found; empty if the probe passed
};

/// A worker was recycled: its replacement is ready. Causes: a limit of age, calls or memory; the
/// worker fails many more calls than its siblings; pool::restart() or rolling_restart().
struct worker_recycled {
    static constexpr std::string_view name = "worker.recycled";
    worker_id worker;
    std::string reason;
};

/// A worker crashed, and its slot is held back for a while.
struct worker_tainted {
    static constexpr std::string_view name = "worker.tainted";
    worker_id worker;
    std::string exit; ///< name of the exit_class
};

/// A worker failed its health checks and is replaced.
struct unhealthy_worker_terminated {
    static constexpr std::string_view name = "worker.unhealthy_terminated";
    worker_id worker;
    int pid = 0;
    std::string reason;
};

/// A call or a lease took the last free place of a worker.
struct capacity_reached {
    static constexpr std::string_view name = "worker.capacity_reached";
    worker_id worker;
    std::size_t load = 0;     ///< places taken by calls and batches
    std::size_t leased = 0;   ///< places kept by leases
    std::size_t capacity = 0; ///< calls that the worker can run at a time
};

/// A worker broke the protocol and is replaced.
struct protocol_error {
    static constexpr std::string_view name = "worker.protocol_error";
    worker_id worker;
    std::string reason;
};

/// A worker printed a line or logged a record.
struct worker_printed {
    static constexpr std::string_view name = "worker.printed";
    worker_id worker;
    bool is_stderr = false;     ///< true: printed to stderr, or logged; false: printed to stdout
    std::string text;           ///< the line without its line feed
    std::string correlation_id; ///< of the call that the worker was running; empty with no call, or several
};

/// The code of a worker emitted an event: skep.emit() or skep.span() in Python.
struct worker_emitted {
    static constexpr std::string_view name = "worker.emitted";
    worker_id worker;
    std::string what;                 ///< name of the event, from the worker's code
    boost::json::object measurements; ///< numbers, by name
    boost::json::object metadata;     ///< other facts, by name
    std::string correlation_id;       ///< of the call that emitted the event; empty outside a call
    std::uint64_t dropped = 0;        ///< events and log records dropped so far in the worker's life
};

/// The pool pinged a worker.
struct ping_sent {
    static constexpr std::string_view name = "heartbeat.ping_sent";
    worker_id worker;
};

/// A worker answered a ping.
struct pong_received {
    static constexpr std::string_view name = "heartbeat.pong_received";
    worker_id worker;
    /// Time since the ping was sent. The pool keeps the send times of the last eight pings. For the answer to
    /// an older ping the latency is too short: it counts from one of these eight.
    duration latency{};
};

/// A worker left pings unanswered.
struct heartbeat_missed {
    static constexpr std::string_view name = "heartbeat.missed";
    worker_id worker;
    int count = 0;           ///< pings missed since the previous event
    std::uint64_t total = 0; ///< pings missed in the worker's life
};

/// A worker left so many pings unanswered that it counts as dead. Published before the last heartbeat_missed.
struct heartbeat_failed {
    static constexpr std::string_view name = "heartbeat.failed";
    worker_id worker;
};

/// A pool begins to start.
struct pool_init_started {
    static constexpr std::string_view name = "pool.init_started";
    std::string pool;
    std::size_t workers = 0; ///< workers to be started
};

/// A start of a pool succeeded or failed.
struct pool_init_completed {
    static constexpr std::string_view name = "pool.init_completed";
    std::string pool;
    duration start_time{};   ///< duration of the start
    std::size_t workers = 0; ///< workers that are up
    std::string problem;     ///< empty after success
};

/// The autoscaler wants more workers.
struct pool_scale_up {
    static constexpr std::string_view name = "pool.scale_up";
    std::string pool;
    std::size_t from = 0; ///< workers wanted before
    std::size_t to = 0;   ///< workers wanted now
    std::string reason;
};

/// The autoscaler wants fewer workers.
struct pool_scale_down {
    static constexpr std::string_view name = "pool.scale_down";
    std::string pool;
    std::size_t from = 0; ///< workers wanted before
    std::size_t to = 0;   ///< workers wanted now
    std::string reason;
};

/// A call or checkout was rejected because the queue is full.
struct pool_saturated {
    static constexpr std::string_view name = "pool.saturated";
    std::string pool;
    std::size_t queued = 0; ///< calls and checkouts in the queue
    std::size_t limit = 0;  ///< queue_options::limit
};

/// The last worker of a pool ended, and no start is admitted: the pool rejects calls.
struct pool_unavailable {
    static constexpr std::string_view name = "pool.unavailable";
    std::string pool;
    std::string reason;
};

/// A pool that was unavailable serves calls again.
struct pool_available {
    static constexpr std::string_view name = "pool.available";
    std::string pool;
};

/// The circuit breaker of worker starts changed its state: "closed", "open" or "half_open".
struct breaker_changed {
    static constexpr std::string_view name = "breaker.changed";
    std::string pool;
    std::string from; ///< old state
    std::string to;   ///< new state
};

/// A call waits for a worker.
struct queue_enqueued {
    static constexpr std::string_view name = "queue.enqueued";
    std::string pool;
    std::string command;
    std::string correlation_id;
    std::size_t depth = 0; ///< length of the queue now
};

/// A call left the queue for a worker.
struct queue_dequeued {
    static constexpr std::string_view name = "queue.dequeued";
    std::string pool;
    std::string command;
    std::string correlation_id;
    duration wait_time{};  ///< since the call was made
    std::size_t depth = 0; ///< length of the queue now
};

/// A call timed out in the queue.
struct queue_timeout {
    static constexpr std::string_view name = "queue.timeout";
    std::string pool;
    std::string command;
    std::string correlation_id;
    duration wait_time{}; ///< since the call was made
};

/// A call was cancelled in the queue.
struct queue_cancelled {
    static constexpr std::string_view name = "queue.cancelled";
    std::string pool;
    std::string command;
    std::string correlation_id;
    duration wait_time{}; ///< since the call was made
};

/// A call was sent to a worker. Published again if that worker is lost and the call is sent to another
/// worker.
struct request_started {
    static constexpr std::string_view name = "request.started";
    worker_id worker;
    std::string command;
    std::string correlation_id;
    std::string session;
    duration queue_time{}; ///< since the call was made
    int attempt = 1;       ///< 1 for the first worker of the call
    std::string node{};
};

/// A call is over. Published once per call, also for a call that no worker received.
struct request_finished {
    static constexpr std::string_view name = "request.finished";
    std::string pool;
    worker_id worker; ///< empty if the call was at no worker when it ended
    std::string command;
    std::string correlation_id;
    std::string session;
    duration queue_time{}; ///< from making the call to sending it for the last time, or to its end
    duration run_time{};   ///< from sending the call for the last time to its end
    duration total_time{}; ///< from making the call to its end
    int attempts = 0;      ///< workers that the call was sent to
    std::string outcome;   ///< "ok", or the name of the errc
    std::string node{};
};

/// A call is over, and failed. Published once per failed call, before its request_finished. A subscriber to
/// failures needs no request_finished, which pools publish for every call.
struct request_failed {
    static constexpr std::string_view name = "request.failed";
    std::string pool;
    worker_id worker; ///< empty if the call was at no worker when it ended
    std::string command;
    std::string correlation_id;
    std::string session;
    duration total_time{};      ///< from making the call to its end
    int attempts = 0;           ///< workers that the call was sent to
    std::string outcome;        ///< the name of the errc
    std::string exception_type; ///< type of the worker's exception, as in error_info::remote_type
    std::string node{};
};

/// The worker of a call was lost, and the call will be sent again.
struct request_retried {
    static constexpr std::string_view name = "request.retried";
    worker_id worker; ///< the lost worker
    std::string command;
    std::string correlation_id;
    duration wait_time{}; ///< delay before the call is sent again
    int attempts = 0;     ///< workers that the call was sent to so far
    std::string node{};
};

/// A worker gave back a call before its begin, because a longer call was running. The call is sent again.
struct request_recalled {
    static constexpr std::string_view name = "request.recalled";
    worker_id worker; ///< had the call
    std::string command;
    std::string correlation_id;
    std::string node{};
};

/// A batch of calls was sent to a worker; of a batch command also a single call.
struct batch_formed {
    static constexpr std::string_view name = "batch.formed";
    worker_id worker;
    std::string command;
    std::size_t calls = 0; ///< number of its calls
    duration wait_time{};  ///< from the arrival of the first call
};

/// A chunk of a stream arrived.
struct stream_chunk {
    static constexpr std::string_view name = "stream.chunk";
    worker_id worker;
    std::string command;
    std::string correlation_id;
    std::size_t bytes = 0; ///< size of the chunk's value and attachments
};

/// A worker calls a tool.
struct tool_called {
    static constexpr std::string_view name = "tool.called";
    worker_id worker;
    std::string tool; ///< name of the tool
    std::string command;
    std::string correlation_id;
};

/// A span of a trace ended. Its ids follow W3C Trace Context. The spans of a call, by their kind:
///
/// - "client": the call, as the caller sees it
/// - "server", within "client": the call at its last worker, from sending the call to its end
/// - "internal", within "server": a skep.span() of the worker's code
/// - "server", within "server" or "internal": a tool that the worker's code calls
///
/// A batch of calls is a span of kind "internal" in a trace of its own, with links to its calls' "server"
/// spans.
///
/// Delivered only to subscribers of this type, not to subscribers of all events.
struct span {
    static constexpr std::string_view name = "trace.span";
    std::string pool;
    worker_id worker;
    std::string what;      ///< name of the command or tool, or the name given to skep.span()
    std::string_view kind; ///< "client", "server" or "internal"
    std::string trace_id;  ///< 32 hexadecimal digits
    std::string span_id;   ///< 16 hexadecimal digits
    std::string parent_id; ///< empty if the trace begins here
    std::chrono::system_clock::time_point start_time; ///< wall clock
    duration time{};                                  ///< duration of the span
    std::string outcome; ///< "ok", the name of an errc, the type of an exception, or a tool_error's code
    std::string correlation_id;
    /// Of a call: queue_ms, attempts, session and batch_size. Of a batch: batch_size. Of skep.span(): its
    /// metadata.
    boost::json::object attributes;
    boost::json::array links; ///< of a batch: for each traced call {"trace_id": text, "span_id": text}
    std::string node{};
};

/// A call or lease of a session got a worker, or pool::bind_session() bound the session to a worker.
struct session_affinity {
    static constexpr std::string_view name = "session.affinity";
    worker_id worker;
    std::string session;
    std::string result; ///< "hit": the session's worker; "miss": another worker, or the session's first
};

/// A session was created.
struct session_created {
    static constexpr std::string_view name = "session.created";
    std::string session;
    std::size_t count = 0; ///< sessions in the store now
};

/// A session expired. Published when the store finds the expired session, at the latest in the next clean-up.
/// Only for sessions that this process keeps.
struct session_expired {
    static constexpr std::string_view name = "session.expired";
    std::string session;
};

/// A session was removed before it expired.
struct session_removed {
    static constexpr std::string_view name = "session.removed";
    std::string session;
};

/// The number of sessions reached 80 % of the quota: see session_options::on_quota_warning.
struct session_quota_warning {
    static constexpr std::string_view name = "session.quota_warning";
    std::size_t count = 0; ///< sessions in the store now
    std::size_t quota = 0; ///< session_options::quota
};

/// A lease has been held for longer than its leak_threshold.
struct lease_leaked {
    static constexpr std::string_view name = "lease.leaked";
    worker_id worker;
    duration held_for{};    ///< since the checkout completed
    std::string file;       ///< source file of the checkout() call
    std::uint64_t line = 0; ///< line in that file
    std::string function;   ///< function that called checkout()
};

/// An operator has asked a node of this program to drain, to serve again or to replace its workers, as
/// `skep nodes` does. Published when the node answers.
struct node_admin {
    static constexpr std::string_view name = "node.admin";
    std::string node;     ///< name of the node
    std::string action;   ///< "drain", "undrain" or "restart"; text of the operator if the node cannot do it
    std::string asker;    ///< the operator's nats_options::inbox
    bool is_done = false; ///< false: refused, or failed
    std::string outcome;  ///< the answer, for people
};

/// A node was heard for the first time, or again after its node_left.
struct node_joined {
    static constexpr std::string_view name = "node.joined";
    std::string pool;
    std::string node;
    std::string epoch;      ///< another with each start of the node
    std::size_t places = 0; ///< calls that the node runs at a time
};

/// A node takes no more calls, and has no link.
struct node_left {
    static constexpr std::string_view name = "node.left";
    std::string pool;
    std::string node;
    std::string epoch;  ///< as in its node_joined
    std::string reason; ///< "it drains", "it is silent" or "it was started again"
};

/// Links to a node were lost: the pool opens no link to the node for a time, and then one for a trial.
struct node_ejected {
    static constexpr std::string_view name = "node.ejected";
    std::string pool;
    std::string node;
    duration time{};             ///< until the trial
    std::uint64_t ejections = 0; ///< of this node by this pool, with this one
};

/// A node that was ejected has answered a call.
struct node_readmitted {
    static constexpr std::string_view name = "node.readmitted";
    std::string pool;
    std::string node;
};

// Templates: see launch_options::preload.

/// A template has loaded the script of the pool's workers, and forks workers from now on.
struct template_started {
    static constexpr std::string_view name = "template.started";
    std::string pool;
    pid_t pid = 0;
    duration preload_time{}; ///< from the launch until the script was loaded
};

/// A template has ended, was killed because it did not answer, was replaced, or could not be made. Workers
/// that were forked from it live on.
struct template_ended {
    static constexpr std::string_view name = "template.ended";
    std::string pool;
    pid_t pid = 0;           ///< 0 if there was no process
    bool is_planned = false; ///< replaced by a rolling restart, or ended with the pool
    std::string reason;
};

/// Workers of a pool with launch.preload start without a template: it must not be forked, or templates end
/// too often.
struct template_refused {
    static constexpr std::string_view name = "template.refused";
    std::string pool;
    std::string objections; ///< for people
};

// Links: published by a client with `worker`, and by a node with `client`, the name of the client's pool.

/// A node has accepted a link of a client.
struct link_opened {
    static constexpr std::string_view name = "link.opened";
    std::string pool;
    worker_id worker;
    std::string node;
    std::string client; ///< name of the client's pool
};

/// A link goes on after a cut, without a loss.
struct link_resumed {
    static constexpr std::string_view name = "link.resumed";
    std::string pool;
    worker_id worker;
    std::string node;
    std::string client; ///< name of the client's pool
};

/// A link was ended in order, by the client or the node.
struct link_closed {
    static constexpr std::string_view name = "link.closed";
    std::string pool;
    worker_id worker;
    std::string node;
    std::string client;  ///< name of the client's pool
    duration lifetime{}; ///< since the link was opened
    std::string reason;
};

/// A link was lost: the peer is out of reach or silent, was started again, or broke the protocol.
struct link_lost {
    static constexpr std::string_view name = "link.lost";
    std::string pool;
    worker_id worker;
    std::string node;
    std::string client;  ///< name of the client's pool
    duration lifetime{}; ///< since the link was opened
    std::string reason;
};

/// The connection to a server of the bus is up. `pool`: of a client; `node`: of a node.
struct bus_up {
    static constexpr std::string_view name = "bus.up";
    std::string pool;
    std::string node;
};

/// The connection to the bus is lost.
struct bus_down {
    static constexpr std::string_view name = "bus.down";
    std::string pool;
    std::string node;
    std::string problem; ///< the last one reported; empty if there is none
};

BOOST_DESCRIBE_STRUCT(worker_transition, (), (worker, from, to, reason, time_in_state, code, metadata))
BOOST_DESCRIBE_STRUCT(worker_spawned, (), (worker, pid, start_time))
BOOST_DESCRIBE_STRUCT(worker_ready, (), (worker, pid, start_time, node))
BOOST_DESCRIBE_STRUCT(worker_terminated, (),
                      (worker, pid, lifetime, calls, reason, planned, outcome, status, unanswered,
                       output_tail, node))
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
BOOST_DESCRIBE_STRUCT(request_started, (),
                      (worker, command, correlation_id, session, queue_time, attempt, node))
BOOST_DESCRIBE_STRUCT(request_finished, (),
                      (pool, worker, command, correlation_id, session, queue_time, run_time, total_time,
                       attempts, outcome, node))
BOOST_DESCRIBE_STRUCT(request_failed, (),
                      (pool, worker, command, correlation_id, session, total_time, attempts, outcome,
                       exception_type, node))
BOOST_DESCRIBE_STRUCT(request_retried, (), (worker, command, correlation_id, wait_time, attempts, node))
BOOST_DESCRIBE_STRUCT(request_recalled, (), (worker, command, correlation_id, node))
BOOST_DESCRIBE_STRUCT(batch_formed, (), (worker, command, calls, wait_time))
BOOST_DESCRIBE_STRUCT(stream_chunk, (), (worker, command, correlation_id, bytes))
BOOST_DESCRIBE_STRUCT(tool_called, (), (worker, tool, command, correlation_id))
BOOST_DESCRIBE_STRUCT(span, (),
                      (pool, worker, what, kind, trace_id, span_id, parent_id, start_time, time, outcome,
                       correlation_id, attributes, links, node))
BOOST_DESCRIBE_STRUCT(session_affinity, (), (worker, session, result))
BOOST_DESCRIBE_STRUCT(session_created, (), (session, count))
BOOST_DESCRIBE_STRUCT(session_expired, (), (session))
BOOST_DESCRIBE_STRUCT(session_removed, (), (session))
BOOST_DESCRIBE_STRUCT(session_quota_warning, (), (count, quota))
BOOST_DESCRIBE_STRUCT(lease_leaked, (), (worker, held_for, file, line, function))
BOOST_DESCRIBE_STRUCT(node_admin, (), (node, action, asker, is_done, outcome))
BOOST_DESCRIBE_STRUCT(node_joined, (), (pool, node, epoch, places))
BOOST_DESCRIBE_STRUCT(node_left, (), (pool, node, epoch, reason))
BOOST_DESCRIBE_STRUCT(node_ejected, (), (pool, node, time, ejections))
BOOST_DESCRIBE_STRUCT(node_readmitted, (), (pool, node))
BOOST_DESCRIBE_STRUCT(template_started, (), (pool, pid, preload_time))
BOOST_DESCRIBE_STRUCT(template_ended, (), (pool, pid, is_planned, reason))
BOOST_DESCRIBE_STRUCT(template_refused, (), (pool, objections))
BOOST_DESCRIBE_STRUCT(link_opened, (), (pool, worker, node, client))
BOOST_DESCRIBE_STRUCT(link_resumed, (), (pool, worker, node, client))
BOOST_DESCRIBE_STRUCT(link_closed, (), (pool, worker, node, client, lifetime, reason))
BOOST_DESCRIBE_STRUCT(link_lost, (), (pool, worker, node, client, lifetime, reason))
BOOST_DESCRIBE_STRUCT(bus_up, (), (pool, node))
BOOST_DESCRIBE_STRUCT(bus_down, (), (pool, node, problem))

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
    events::request_finished, events::request_failed, events::request_retried, events::request_recalled,
    events::batch_formed, events::stream_chunk, events::tool_called, events::span, events::session_affinity,
    events::session_created, events::session_expired, events::session_removed, events::session_quota_warning,
    events::lease_leaked, events::node_joined, events::node_left, events::node_ejected,
    events::node_readmitted, events::link_opened, events::link_resumed, events::link_closed,
    events::link_lost, events::bus_up, events::bus_down, events::node_admin, events::template_started,
    events::template_ended, events::template_refused>;

} // namespace detail

/// Any event: a variant of the structs above, for std::visit, std::get_if and std::holds_alternative.
struct event : detail::any_event {
    using variant::variant;
    event() = default;
    // In the library, because 57 types take the compiler long.
    SKEP_API event(const event&);
    SKEP_API event(event&&) noexcept;
    SKEP_API event& operator=(const event&);
    SKEP_API event& operator=(event&&);
    SKEP_API ~event();
};

/// Returns the name of the event, for example "worker.ready".
SKEP_API std::string_view name_of(const event& subject) noexcept;

/// Returns the event as JSON, for logs, pages and traces: {"event": name_of(subject), ...}. The key of a
/// member is its name. Durations are in milliseconds, and have "_ms" behind the name. Points in time are in
/// microseconds since 1970, and have "_us" behind the name. Worker ids and enumerators are text.
SKEP_API boost::json::object to_json(const event& subject);

} // namespace skep

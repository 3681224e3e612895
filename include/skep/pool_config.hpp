// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/export.hpp>
#include <skep/initialization_delegate.hpp>
#include <skep/launch_options.hpp>
#include <skep/log.hpp>
#include <skep/presets.hpp>
#include <skep/scaling.hpp>
#include <skep/scheduler.hpp>
#include <skep/self_healing.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

class event_bus;
class session_store;

/// How the initial workers come up.
struct start_options {
    std::size_t batch_size = 10; ///< workers started together, 1..1000
    duration batch_delay =
        std::chrono::milliseconds(500);           ///< a batch starts when the one before is up, at the
                                                  ///< latest after this, 0..60 s; 0 = all at once
    duration timeout = std::chrono::seconds(120); ///< per worker, launch to ready, 10 ms..1 h; a model may
                                                  ///< take its time to load, more so beside others
};

/// Leases: see pool::checkout.
struct lease_options {
    /// One that is held for longer is logged as a leak, once, with the place of its checkout, 0..365 days; 0 = never.
    duration leak_threshold = std::chrono::minutes(5);
};

/// Figures: see pool::metrics.
struct metrics_options {
    bool enabled = true; ///< calls are counted by command and outcome, and their times
    /// The first that a worker knew have figures of their own, of 9 KiB each; all others share theirs, 0..1,000.
    std::size_t commands = 50;
};

/// Traces: see events::span. Calls are traced as long as somebody subscribes to spans.
struct trace_options {
    /// How many of the calls that come without a "traceparent" among their metadata begin a trace, 0..1. Of the others
    /// those are traced whose header says so.
    double sample_ratio = 1;
};

/// The wait for a free worker.
struct queue_options {
    /// Calls and checkouts that may wait, 0..10,000,000; 0 = refuse when all are busy.
    std::size_t limit = 1000;
    duration timeout =
        std::chrono::seconds(5); ///< longest wait, 0..24 h; 0 = bounded by the call's deadline only
};

/// Calls whose answers come in chunks: see pool::stream.
struct stream_options {
    std::size_t window = 64;             ///< chunks that a worker may be ahead of the consumer, 1..65,536
    std::size_t window_bytes = 1u << 20; ///< the same in bytes, and one chunk more, 1 KiB..1 GiB

    /// For the whole stream, waiting included, 0..24 h; 0 = none. A request's own timeout goes first.
    duration timeout = std::chrono::minutes(15);

    /// Longest wait for a chunk that the worker may send, 0..24 h; 0 = none. A request's own goes first.
    duration idle_timeout = std::chrono::seconds(60);
};

/// Pings over the control channel. A worker is lost when `misses` pings in a row stay unanswered for
/// `timeout`.
struct heartbeat_options {
    bool enabled = true;                         ///< whether workers are pinged at all
    duration interval = std::chrono::seconds(2); ///< 10 ms..1 h
    duration timeout = std::chrono::seconds(10); ///< 10 ms..1 h
    int misses = 3;                              ///< 1..100
    duration initial_delay{};                    ///< from ready to the first ping, 0..1 h
    bool dependent = true; ///< true: a lost worker is replaced; false: only counted and logged
};

/// The stop sequence: drain, ask, SIGTERM, SIGKILL, reap.
struct stop_options {
    duration drain_timeout = std::chrono::seconds(5); ///< how long shutdown() lets calls finish, 0..24 h

    /// From the shutdown frame to SIGTERM, 0..1 h; an interpreter with large libraries takes seconds to end.
    duration shutdown_grace = std::chrono::seconds(3);
    duration term_grace = std::chrono::seconds(2);   ///< from SIGTERM to SIGKILL, 0..1 h
    duration reap_timeout = std::chrono::seconds(2); ///< from SIGKILL to giving it up as lost, 10 ms..1 h

    /// What a frozen worker gets to print its stacks before SIGTERM, 0..10 s; 0 = they are not asked for.
    duration stack_dump_timeout = std::chrono::milliseconds(300);
};

/// Replacing lost workers. A worker that dies after it has done work, or has lived for stable_after, is replaced
/// at once. One that dies before that waits initial_backoff, then twice as long each time; being killed from
/// outside counts once.
struct restart_options {
    duration initial_backoff = std::chrono::milliseconds(100); ///< 1 ms..1 h
    duration max_backoff = std::chrono::seconds(30);           ///< initial_backoff..24 h
    double jitter = 0.25;                                      ///< each wait varies by this share, 0..1
    duration stable_after = std::chrono::seconds(10); ///< a run this long forgives earlier failures, 0..24 h
    duration safety_tick = std::chrono::seconds(1);   ///< period of the safety check, 10 ms..1 h
    std::size_t starts_per_tick = 2;                  ///< workers it may start each time, 1..1000

    /// Restart intensity: more unplanned ends of workers than this within `window` make the pool unavailable as soon
    /// as no worker is left: calls fail at once, and one worker at a time is tried, the first after `open_time`,
    /// until one comes up. 0..1,000,000; 0 = five per worker, at least ten.
    std::size_t limit = 0;
    duration window = std::chrono::seconds(30);    ///< 10 ms..24 h
    duration open_time = std::chrono::seconds(30); ///< 1 ms..24 h
};

/// What a worker may send and be sent. Workers are told. The SDK refuses a result beyond it as an error of that call;
/// a worker that sends one all the same breaks the protocol. Fixed: integers fit into 64 bits, and a message has at
/// most 65,536 attachments.
struct limit_options {
    std::size_t frame_bytes = 64u << 20; ///< one frame, 1 KiB..2 GiB
    std::size_t json_bytes = 64u << 20;  ///< its JSON, 1 KiB..1 GiB, and no more than frame_bytes

    /// Nesting of a frame's JSON, of which the message itself is one level, 4..1000. Requests may nest one level less,
    /// and no more than 500.
    std::size_t json_depth = 512;

    /// Host memory that the JSON of one frame from a worker may grow to, 64 KiB..16 GiB: 24 bytes a value, and the
    /// text of strings; 56 an array or object; 40 a member, and its key. The end of one list of n elements holds the pool's
    /// executor for about n * 10 ns, which this bounds: 40 ms by default. Attachments carry larger data without that.
    std::size_t tree_bytes = 96u << 20;

    /// One tool call of a worker, its attachments included, 1 KiB..2 GiB; no more than frame_bytes count. Results, errors
    /// and chunks, which a caller has asked for, have the limits above; other messages of a worker 128 KiB.
    std::size_t tool_call_bytes = 8u << 20;
};

/// One line that a worker wrote to stdout or stderr. Valid only during the handler's call.
struct output_line {
    const worker_id& worker; ///< who wrote it
    bool is_stderr;          ///< whether to stderr, else to stdout
    std::string_view text;   ///< without the line end

    /// Of the calls that the worker was at when the line was read, as far as the pool knows: one that is at several may
    /// have printed it for any of them. The longest at work first, at most 64; empty outside a call.
    std::span<const std::string> correlation_ids{};
};
/// What is called for a line: see output_options::handler.
using output_handler = std::function<void(const output_line&)>;

/// Capturing what workers print.
struct output_options {
    std::size_t line_bytes = 8192; ///< longer lines are cut into pieces of this size, 80..1 MiB
    std::size_t lines_per_second =
        1000;                      ///< per worker; more are dropped and counted, 0..1,000,000; 0 = drop all
    std::size_t tail_bytes = 4096; ///< kept per worker for error messages, 0..1 MiB

    /// Called for each line on the pool's strand; must not block; exceptions are logged. Empty: lines go to
    /// the log; see log_record.
    output_handler handler;
};

/// The reaction of Python workers to two threads that are in methods of one object of the script at the same time.
enum class thread_checks {
    off,
    report, ///< write it to stderr, once for each pair of methods
    strict  ///< likewise, and raise an error in the thread that comes second, each time
};

/// Everything a pool can be told. All fields have defaults except launch.program. A pool validates once, in
/// its constructor.
struct SKEP_API pool_config {
    std::string name = "default"; ///< [A-Za-z0-9][A-Za-z0-9_.-]*, at most 64 characters
    launch_options launch;
    std::size_t workers =
        0; ///< processes, 0..10,000; 0 = one per CPU that affinity and control groups leave us
    scaling_options scaling;   ///< for a number that changes with the load
    std::size_t min_ready = 1; ///< start() returns with this many, 1..the initial number of workers
    std::size_t capacity = 1;  ///< calls at a time per worker, 1..65,536; a worker that offers less gets less

    /// Threads that each worker answers calls with, 1..1024: calls at a time unless `capacity` is more. A Python worker must
    /// declare that its code can stand it, by skep.Worker(thread_safe=True), or the start fails. OMP_NUM_THREADS and its
    /// kin are set to that number in its environment, unless launch.environment sets them.
    std::size_t threads_per_worker = 1;

    /// Python workers with threads watch over them: see "Several calls at once" in lib/python/README.md. For tests, and for
    /// the first days of a script in threads.
    thread_checks thread_safety_checks = thread_checks::off;

    /// Calls pipelined to a worker that is at capacity, to hide the round trip, 0..65,536. 0 = late binding: a
    /// call waits in the pool's queue until a worker is free. More raises throughput where calls are short, but
    /// a call may then wait behind a long one though another worker becomes free.
    std::size_t pipeline_depth = 0;

    scheduling schedule = scheduling::least_loaded; ///< which worker gets the next call
    scheduler_factory custom_scheduler;             ///< if set, used instead of `schedule`

    start_options start;
    initialization_options initialization;
    queue_options queue;
    affinity_options affinity;
    lease_options lease;
    metrics_options metrics;
    trace_options tracing;

    /// If set: calls count as accesses of their sessions there, and a session that is removed there, or expires in this
    /// process without having been used here since, is forgotten here (see pool::forget_session). A pool_manager sets it to
    /// its own.
    std::shared_ptr<session_store> sessions;

    /// Who is told of what happens; null: a bus of the pool's own, or that of its
    /// pool_manager.
    std::shared_ptr<event_bus> events;
    duration request_timeout = std::chrono::seconds(60); ///< per call, 0..24 h; 0 = none
    stream_options stream;

    /// By name, for the calls of these commands: see command_options.
    std::map<std::string, command_options, std::less<>> commands;
    duration cancel_grace = std::chrono::seconds(2); ///< for a cancelled call to end before its worker is
                                                     ///< replaced, 0..1 h
    retry_options retry;
    heartbeat_options heartbeat;
    health_check_options health_check;
    recycle_options recycle;
    crash_barrier_options crash_barrier;
    stop_options stop;
    restart_options restart;
    limit_options limits;
    output_options output;

    /// Records below this level are not logged. Lines that workers print, and records of their own logging, are logged
    /// unless output.handler takes them; for their levels see log_record.
    skep::log_level log_level = skep::log_level::warning;

    /// Takes the log records. Empty: the handler of the pool's pool_manager; without that, lines on standard error, which
    /// are written at once.
    skep::log_handler log_handler;
    skep::log_format log_format =
        skep::log_format::text; ///< of the lines on standard error if there is no log_handler

    /// A pool of Python workers running `script` (a file that ends in worker.run()) with `interpreter`.
    static pool_config python(std::string script, std::string interpreter = "python3");

    /// Sets the fields that the profile, or the strategy, is about; all other fields stay as they are.
    pool_config& apply(timeout_profile profile);
    pool_config& apply(capacity_strategy strategy);

    /// Reads the same fields from JSON: nested objects by the member names above, enums by name, and durations either as
    /// text with a unit ("request_timeout": "1.5s"; ns, us, ms, s, m, h and d) or as an integer of milliseconds, whose key
    /// has the suffix _ms ("request_timeout_ms": 1500). "timeout_profile" and "capacity_strategy" are presets by name, which
    /// become values of the fields that they are about; where the document has such a field too, that one holds. "$schema"
    /// at the top is left to editors. Handlers, delegates and
    /// custom schedulers cannot be given in JSON. Throws error(errc::invalid_config) that lists all that is wrong: unknown
    /// keys, with the one that was probably meant, wrong types, and what validate() finds; each by its JSON path, value
    /// and rule. Values of environments are never shown.
    static pool_config from_json(const boost::json::value& document);

    /// The JSON Schema (draft 2020-12) of what from_json() reads, by which editors complete and check it: types, ranges,
    /// names of enums, defaults. Rules between fields, and the ranges of durations in text, are not in it. The same is
    /// installed as share/skep-VERSION/pool_config.schema.json.
    static boost::json::object json_schema();

    /// Throws error(errc::invalid_config) that lists all broken rules: field, value and rule.
    void validate() const;
};

/// All that from_json() can read, so that from_json(to_json(config)) is `config` again, but for its handlers, delegate
/// and custom scheduler; durations in whole milliseconds by their keys with _ms, others as text ("1500us"). Holds the
/// values of launch.environment and launch.slot_environment, which may be secrets: take them out of what is logged or
/// shown.
SKEP_API boost::json::object to_json(const pool_config& config);

/// The descriptors that a pool with this configuration opens in its host at most, for what a service has to leave of its
/// limit (RLIMIT_NOFILE): six for each worker, twice as many as there may be workers, as those that end overlap with those
/// that take their places; and those of a launch. Of Linux alone: what `session_store` or handlers open is not in it.
SKEP_API std::size_t descriptors_needed(const pool_config& config);

} // namespace skep

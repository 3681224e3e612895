// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/export.hpp>
#include <skep/initialization_delegate.hpp>
#include <skep/launch_options.hpp>
#include <skep/log.hpp>
#include <skep/pool_thread.hpp>
#include <skep/presets.hpp>
#include <skep/scaling.hpp>
#include <skep/scheduler.hpp>
#include <skep/self_healing.hpp>
#include <skep/shared_options.hpp>
#include <skep/time.hpp>
#include <skep/wait_mode.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

class event_bus;
class session_store;

/// Start of the initial workers.
struct start_options {
    std::size_t batch_size = 10; ///< workers started together, 1..1000
    duration batch_delay =
        std::chrono::milliseconds(500);           ///< a batch starts when the previous batch is up, at the
                                                  ///< latest after this, 0..60 s; 0 = all at once
    duration timeout = std::chrono::seconds(120); ///< per worker, launch to ready, 10 ms..1 h; a model may
                                                  ///< take its time to load, more so beside others
};

/// Leases: see pool::checkout.
struct lease_options {
    /// A lease that is held for longer is logged as a leak, once, with the place of its checkout, 0..365
    /// days; 0 = never.
    duration leak_threshold = std::chrono::minutes(5);
};

/// Figures: see pool::metrics.
struct metrics_options {
    bool enabled = true; ///< counts and times calls by command and outcome
    /// Number of commands with their own figures, 0..1,000: the first that a worker knew. Each takes 9 KiB.
    /// All other commands share one set of figures.
    std::size_t commands = 50;
};

/// Traces: see events::span. Calls are traced while the pool's events have a subscriber to spans.
struct tracing_options {
    /// Share of the calls without a "traceparent" in their metadata that begin a trace, 0..1. A call with a
    /// "traceparent" is traced if the header says so.
    double sample_ratio = 1;
};

/// The wait for a free worker.
struct queue_options {
    /// Calls and checkouts that may wait, 0..10,000,000; 0 = refuse when all workers are busy.
    std::size_t limit = 1000;
    duration timeout =
        std::chrono::seconds(5); ///< longest wait, 0..24 h; 0 = bounded by the call's deadline only
};

/// Calls whose answers come in chunks: see pool::stream.
struct stream_options {
    std::size_t window = 64;             ///< chunks that a worker may be ahead of the consumer, 1..65,536
    std::size_t window_bytes = 1u << 20; ///< the same in bytes, plus one chunk, 1 KiB..1 GiB

    /// For the whole stream, waiting included, 0..24 h; 0 = none. A timeout of the request takes precedence.
    duration timeout = std::chrono::minutes(15);

    /// Longest wait for a chunk that the worker may send, 0..24 h; 0 = none. An idle timeout of the request
    /// takes precedence.
    duration idle_timeout = std::chrono::seconds(60);
};

/// Pings over the control channel, one each `interval`, also while others are unanswered. A worker is lost
/// when `misses` pings in a row stay unanswered for `timeout`, with the defaults after about 15 s.
struct heartbeat_options {
    bool enabled = true;                         ///< pings workers
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
    duration term_grace = std::chrono::seconds(2); ///< from SIGTERM to SIGKILL, 0..1 h
    duration reap_timeout =
        std::chrono::seconds(2); ///< from SIGKILL until the worker counts as lost, 10 ms..1 h

    /// Time for a frozen worker to print its stacks before SIGTERM, 0..10 s; 0 = no request for stacks.
    duration stack_dump_timeout = std::chrono::milliseconds(300);
};

/// Replacement of lost workers. A worker that dies after it has done work, or has lived for stable_after, is
/// replaced at once. After an earlier death, the replacement waits initial_backoff, then twice as long each
/// time; a death by an outside signal counts once.
struct restart_options {
    duration initial_backoff = std::chrono::milliseconds(100); ///< 1 ms..1 h
    duration max_backoff = std::chrono::seconds(30);           ///< initial_backoff..24 h
    double jitter = 0.25;                                      ///< each wait varies by this share, 0..1
    duration stable_after = std::chrono::seconds(10); ///< a run this long forgives earlier failures, 0..24 h
    duration safety_tick = std::chrono::seconds(1);   ///< period of the safety check, 10 ms..1 h
    std::size_t starts_per_tick = 2;                  ///< workers that each safety check may start, 1..1000

    /// Restart intensity: the most unplanned ends of workers within `window`. If there are more and no worker
    /// is left, the pool becomes unavailable: calls fail at once, and one worker at a time is tried, the
    /// first after `open_time`, until one comes up. 1..1,000,000; unset = five per worker, at least ten.
    std::optional<std::size_t> limit;
    duration window = std::chrono::seconds(30);    ///< 10 ms..24 h
    duration open_time = std::chrono::seconds(30); ///< 1 ms..24 h
};

/// Limits for the data between host and worker; workers learn these limits. The SDK fails a call whose result
/// exceeds a limit; a worker that sends the result anyway breaks the protocol. Fixed limits: integers fit
/// into 64 bits, and a message has at most 65,536 attachments.
struct limit_options {
    std::size_t frame_bytes = 64u << 20; ///< one frame, 1 KiB..2 GiB
    std::size_t json_bytes = 64u << 20;  ///< its JSON, 1 KiB..1 GiB, and no more than frame_bytes

    /// Nesting of a frame's JSON, including one level for the message itself, 4..1000. Requests may nest one
    /// level less, and at most 500 levels.
    std::size_t json_depth = 512;

    /// Host memory for the JSON of one frame from a worker, 64 KiB..16 GiB: 24 bytes per value plus the text
    /// of strings; 56 per array or object; 40 per member plus its key. The end of a list of n elements holds
    /// the pool's executor for about n * 10 ns, at most 40 ms with the default. Attachments carry larger data
    /// without such a delay.
    std::size_t tree_bytes = 96u << 20;

    /// One tool call of a worker, including attachments, 1 KiB..2 GiB; the smaller of this and frame_bytes
    /// applies. Results, errors and chunks answer a caller, and have the limits above; other messages of a
    /// worker are limited to 128 KiB.
    std::size_t tool_call_bytes = 8u << 20;
};

/// One line that a worker wrote to stdout or stderr. Valid only during the handler's call.
struct output_line {
    const worker_id& worker; ///< the worker that wrote the line
    bool is_stderr;          ///< true: stderr; false: stdout
    std::string_view text;   ///< without the line end

    /// Correlation ids of the calls that the worker was running when the line was read, as far as the pool
    /// knows. With several calls, each may have printed the line. The longest running call first, at most 64;
    /// empty outside a call.
    std::span<const std::string> correlation_ids{};
};
/// Receives a line of output: see output_options::handler.
using output_handler = std::function<void(const output_line&)>;

/// Capture of the workers' output.
struct output_options {
    std::size_t line_bytes = 8192; ///< longer lines are cut into pieces of this size, 80..1 MiB
    std::size_t lines_per_second =
        1000; ///< per worker; more are dropped and counted, 0..1,000,000; 0 = drop all
    /// Bytes of a worker's last output that errors and events quote, 0..1 MiB; 0 = none. The account of a
    /// fatal error of Python, with the stacks of all threads, may exceed this limit: up to 16 KiB of the
    /// account are quoted, with at most 1 KiB of the output before it.
    std::size_t tail_bytes = 4096;

    /// Called for each line on the pool's strand; must not block; exceptions are logged. Empty: lines go to
    /// the log; see log_record.
    output_handler handler;
};

/// Reaction of Python workers when two threads run methods of one object of the script at the same time.
enum class thread_checks {
    off,
    report, ///< write it to stderr, once for each pair of methods
    strict  ///< also raise an error in the second thread, each time
};

/// Configuration of a pool. All fields have defaults except launch.program. A pool validates once, in its
/// constructor.
/// 0 switches off what an option is for: a timeout, the queue, a limit of recycling. A number that the pool
/// can choose by itself is a std::optional.
struct SKEP_API pool_config {
    // The options that most services look at.

    std::string name = "default"; ///< [A-Za-z0-9][A-Za-z0-9_.-]*, at most 64 characters
    launch_options launch;
    std::optional<std::size_t> workers; ///< processes, 1..10,000; unset = one per CPU that affinity and
                                        ///< control groups leave us
    scaling_options scaling;            ///< number of workers that changes with the load
    std::size_t min_ready = 1;          ///< start() returns with this many, 1..the initial number of workers
    start_options start;

    /// Threads in each worker that answer calls, 1..1024; also the calls at a time unless `capacity` is more.
    /// With more than one thread, a Python worker must declare skep.Worker(thread_safe=True), or its start
    /// fails. OMP_NUM_THREADS and similar variables are set to this number in the worker's environment,
    /// unless launch.environment sets them.
    std::size_t threads_per_worker = 1;
    std::size_t capacity = 1; ///< calls at a time per worker, 1..65,536; fewer if the worker offers fewer

    queue_options queue;
    duration request_timeout = std::chrono::seconds(60); ///< per call, 0..24 h; 0 = none
    stream_options stream;

    /// Defaults for the calls of single commands, by name: see command_options.
    std::map<std::string, command_options, std::less<>> commands;
    retry_options retry;
    affinity_options affinity;

    /// If set, calls count as accesses of their sessions in this store. The pool forgets a session (see
    /// pool::forget_session) that is removed from the store, or that expires in this process without a later
    /// use in the pool. A pool_manager sets its own store.
    std::shared_ptr<session_store> sessions;

    recycle_options recycle;
    stop_options stop;

    /// Bus for the pool's events. Null: the bus of the pool_manager, or else the pool's own bus.
    std::shared_ptr<event_bus> events;

    /// Records below this level are not logged. Lines that workers print, and records of their own logging,
    /// are logged unless output.handler takes them; for their levels see log_record. Workers in Python log
    /// from this level on, or from `warning` if that is lower, unless their script sets a level.
    skep::log_level log_level = skep::log_level::warning;

    /// Receives the log records. Empty: the handler of the pool_manager, or else lines on standard error,
    /// written at once.
    skep::log_handler log_handler;

    // Expert options: the defaults suit most services.

    skep::log_format log_format =
        skep::log_format::text; ///< form of the lines on standard error without a log_handler
    output_options output;

    /// Calls pipelined to a worker that is at capacity, to hide the round trip, 0..65,536. Unset = automatic:
    /// up to 4 calls lie behind calls of commands that have taken less than a millisecond so far, and are
    /// recalled once a call takes longer; only at workers that give calls back. 0 = late binding: a call
    /// waits in the pool's queue until a worker is free. With another number, calls are not recalled: a call
    /// may wait behind a long one while another worker becomes free. A batch is pipelined only if it is full
    /// and its command takes less than 5 ms.
    std::optional<std::size_t> pipeline_depth;

    /// The thread that runs the pool's work. Pools of a pool_manager may have a thread each.
    pool_thread thread = pool_thread::caller;

    /// How workers wait for calls, and the threads of skep::run and of the pool's own for answers. Workers in
    /// Python without the module skep._loop always sleep at once. Other threads that run an execution context
    /// wait as their owner decides.
    wait_mode wait = wait_mode::adaptive;

    scheduling schedule = scheduling::least_loaded; ///< which worker gets the next call
    scheduler_factory custom_scheduler;             ///< if set, used instead of `schedule`

    /// Checks in Python workers with threads: see "Several calls at once" in lib/python/README.md. For tests,
    /// and for the first days of a script in threads.
    thread_checks thread_safety_checks = thread_checks::off;

    initialization_options initialization;
    lease_options lease;
    metrics_options metrics;
    tracing_options tracing;
    duration cancel_grace = std::chrono::seconds(2); ///< for a cancelled call to end before its worker is
                                                     ///< replaced, 0..1 h
    heartbeat_options heartbeat;
    health_check_options health_check;
    crash_barrier_options crash_barrier;
    restart_options restart;
    limit_options limits;
    shared_options shared; ///< memory for large attachments

    /// Returns the configuration of a pool of Python workers that run `script` (a file that ends in
    /// worker.run()) with `interpreter`.
    static pool_config python(std::string script, std::string interpreter = "python3");

    /// Set the fields of the profile or strategy; other fields stay unchanged.
    pool_config& apply(timeout_profile profile);
    pool_config& apply(capacity_strategy strategy);

    /// Sets the fields for a developer at a debugger: one worker; no timeouts of calls, streams and the
    /// queue, also for single commands; no heartbeat, health check, recycling and refusal of poisonous input;
    /// an hour for a start and for the end of a cancelled call. Python's breakpoint() in a worker waits for
    /// `python3 -m skep attach`, because launch.environment gets PYTHONBREAKPOINT unless it has one. Timeouts
    /// of single requests remain. Not for production: a worker that hangs stays.
    pool_config& debugging();

    /// Reads the configuration from JSON: nested objects by the member names above, and enums by name. A
    /// duration is either text with a unit ("request_timeout": "1.5s"; ns, us, ms, s, m, h and d) or an
    /// integer of milliseconds under a key with the suffix _ms ("request_timeout_ms": 1500).
    /// "timeout_profile" and "capacity_strategy" name presets; a field in the document overrides the value of
    /// the preset. "$schema" at the top is for editors. JSON cannot express handlers, delegates and custom
    /// schedulers.
    /// Throws error(errc::invalid_config) with all problems: unknown keys, with the probable correct key,
    /// wrong types, and the problems that validate() finds. Each has its JSON path, value and rule. Values of
    /// environments are never shown.
    static pool_config from_json(const boost::json::value& document);

    /// Reads the configuration from a JSON file, as from_json() does, with two additions.
    /// Relative paths count from the folder of the file: launch.working_directory, which is that folder
    /// unless set, and launch.program if it has a slash (or launch.prefix[0], if there is a prefix). A script
    /// in launch.args counts from the working directory, as always.
    /// Strings may refer to the environment of the host: ${NAME} stands for the variable, ${NAME:-default}
    /// for the default if the variable is empty or not set, and $$ for a single $. Any other $ stands for
    /// itself. Keys, numbers and booleans cannot be references.
    /// Throws error(errc::invalid_config), with the name of the file: if the file cannot be read; for a
    /// syntax error, with line and column; for a variable that is not set and has no default, with its field;
    /// and with all problems that from_json() finds.
    /// Thread safety: must not run while another thread changes the environment.
    static pool_config from_file(const std::filesystem::path& path);

    /// Returns the JSON Schema (draft 2020-12) for from_json(), for completion and checks in editors: types,
    /// ranges, names of enums, defaults. Rules between fields, and the ranges of durations in text, are not
    /// part of the schema. Installed as share/skep-VERSION/pool_config.schema.json.
    static boost::json::object json_schema();

    /// Checks all rules.
    /// Throws error(errc::invalid_config) with field, value and rule of each problem.
    void validate() const;
};

/// Returns the configuration as JSON: from_json() of the result equals `config`, except its handlers,
/// delegate and custom scheduler. Durations are whole milliseconds under keys with the suffix _ms, or else
/// text ("1500us"). Contains the values of launch.environment and launch.slot_environment, which may be
/// secrets: remove them before you log or show the result.
SKEP_API boost::json::object to_json(const pool_config& config);

/// Returns the most descriptors that a pool with this configuration opens in its host, for a service that
/// must leave room below its limit (RLIMIT_NOFILE): six descriptors per worker, eight with shared memory, for
/// twice the most workers, because old and new workers overlap; plus the descriptors of a launch, of
/// templates, of the sealed memory of one answer per worker, and of a thread of the pool's own. For Linux
/// only. Descriptors of a `session_store` or of handlers are not included.
SKEP_API std::size_t descriptors_needed(const pool_config& config);

} // namespace skep

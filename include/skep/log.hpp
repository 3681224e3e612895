// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/worker_id.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Severity of a log record. `off` is a limit above all levels; no record has it.
enum class log_level { debug, info, warning, error, off };

/// Returns the name of the level, for example "warning".
SKEP_API std::string_view to_string(log_level level) noexcept;

/// The author of a log record.
enum class log_source {
    pool,  ///< the pool, about itself or about a worker
    worker ///< a worker: a line that the worker has printed, or a record of the worker's own logging
};

/// One message for the log. Members without a value are empty. The pool's own messages hold neither arguments
/// nor results nor environments.
struct log_record {
    std::chrono::system_clock::time_point time{}; ///< when the host logged the message

    /// Records of a worker's own logging keep their level: `critical` of Python is `error`. A line on a
    /// worker's stdout is `info`, a line on its stderr is `warning`. Lines that another worker has printed
    /// before, such as the same traceback, are not logged again for a worker that fails in its start.
    log_level level = log_level::info;
    log_source source = log_source::pool; ///< the author
    std::string pool;                     ///< name of the pool
    std::optional<worker_id> worker;      ///< the author, or the worker that the pool's message is about
    int pid = 0;                          ///< of the worker; 0 if it is not known
    std::string session;                  ///< of the call with `correlation_id`
    std::string correlation_id;           ///< of the call that the message belongs to

    /// If the worker was running several calls as it printed a line: the ids of all of them, at most 64, the
    /// longest running first. `correlation_id` is empty then.
    std::vector<std::string> concurrent_ids;
    std::string logger; ///< name of the worker's own logger; "stdout" or "stderr" for a line

    /// The message. Of a worker: as the worker has written it, control characters and ill-formed UTF-8
    /// included. log_line() escapes these. Of the pool about a crash: the lines after the first are the
    /// worker's account of it, with the stacks.
    std::string text;
};

/// The form of a line of the log.
enum class log_format {
    text, ///< time (UTC), level, pool, worker, text: "2026-05-28T20:26:40.007Z warning skep pool blue: ..."
    json  ///< a JSON object with the members that have a value; `source` is named "channel"
};

/// Returns the record as one line, its line feed included. Escapes all characters that could forge a line or
/// act on a terminal.
SKEP_API std::string log_line(const log_record& record, log_format format = log_format::text);

/// Takes the log records of a pool: see pool_config::log_handler and manager_config::log_handler.
///
/// Exceptions: caught by the pool, which writes the record to standard error instead.
/// Executor: the executor that the pool was constructed with, outside the pool's strand. The handler may call
/// the pool. It should return soon: a handler that blocks holds a thread of the executor, and records wait
/// meanwhile. Records beyond 16 MiB are dropped; a record of level `warning` then tells how many.
/// Thread safety: a pool hands over one record at a time, in the order of logging. Several pools may call
/// copies of one handler at the same time.
/// Lifetime: the pool keeps the handler until the last record is delivered, which may be after the
/// destruction of the pool but not after the pool's last work on the executor.
using log_handler = std::function<void(const log_record&)>;

/// Returns a handler that writes lines to the standard error of the process. Never blocks: a line that does
/// not fit into a pipe is left out, and the next line tells how many are missing.
/// Thread safety: the handler may be called from several threads at once.
SKEP_API log_handler stderr_log_handler(log_format format = log_format::text);

} // namespace skep

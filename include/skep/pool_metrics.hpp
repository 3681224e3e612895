// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/export.hpp>
#include <skep/histogram.hpp>
#include <skep/pool_status.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace skep {

/// Outcomes and durations of calls.
struct call_metrics {
    std::uint64_t succeeded = 0;          ///< calls that ended with a reply
    std::map<errc, std::uint64_t> failed; ///< failed calls by error code
    histogram queue_time;                 ///< of every ended call: time until it was sent, or failed unsent
    histogram run_time;                   ///< of every sent call: time since it was last sent

    /// Returns the number of failed calls, of all error codes.
    SKEP_API std::uint64_t failures() const noexcept;

    /// Adds the calls of `other`.
    SKEP_API void add(const call_metrics& other);
};

/// All figures of a pool at one moment: see pool::metrics(). calls() counts the same calls as
/// status.counters.
struct pool_metrics {
    pool_status status;   ///< status of the same moment
    histogram start_time; ///< time until a worker was ready
    /// The first metrics_options::commands commands that a worker knew, with names of at most 128 bytes.
    std::map<std::string, call_metrics> commands;
    call_metrics others; ///< all other commands together

    /// Returns the sum of all commands.
    SKEP_API call_metrics calls() const;
};

/// Returns {"status": S, "start_time": T, "calls": C, "commands": {name: C, ...}, "others": C}. S is
/// to_json(pool_status). C is {"succeeded": n, "failed": {errc: n, ...}, "queue_time": T, "run_time": T}. T
/// is {"count": n, "sum_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms"}, in fractions of milliseconds.
SKEP_API boost::json::object to_json(const pool_metrics& metrics);

} // namespace skep

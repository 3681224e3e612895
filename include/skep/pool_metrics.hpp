// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/export.hpp>
#include <skep/histogram.hpp>
#include <skep/pool_status.hpp>

#include <boost/json/object.hpp>

#include <array>
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

/// The batches of one command, batches of a single call included.
struct batch_metrics {
    std::uint64_t calls = 0; ///< in all batches
    /// Number of batches by their number of calls: [0] of one call, [n] of 2^(n-1)+1 to 2^n calls.
    std::array<std::uint64_t, 17> sizes{};
    histogram wait_time; ///< of every batch: time from the arrival of its first call until it was sent
};

/// Calls by their outcome.
struct call_counts {
    std::uint64_t succeeded = 0;          ///< calls that ended with a reply
    std::map<errc, std::uint64_t> failed; ///< failed calls by error code
};

/// All figures of a pool at one moment: see pool::metrics(). calls() counts the same calls as
/// status.counters.
struct pool_metrics {
    pool_status status;   ///< status of the same moment
    histogram start_time; ///< time until a worker was ready
    /// The first metrics_options::commands commands that a worker knew, with names of at most 128 bytes.
    std::map<std::string, call_metrics> commands;
    call_metrics others; ///< all other commands together
    /// The batches of the first metrics_options::commands batch commands, with names of at most 128 bytes.
    /// Batches of other commands are not counted.
    std::map<std::string, batch_metrics> batches;
    /// Of a remote_pool: the calls that ended at a node, by the name of the node. The first 100 nodes have
    /// counts of their own; the calls of further nodes are under "".
    std::map<std::string, call_counts> nodes;

    /// Returns the sum of all commands.
    SKEP_API call_metrics calls() const;
};

/// Returns {"status": S, "start_time": T, "calls": C, "commands": {name: C, ...}, "others": C, "batches":
/// {name: {"calls": n, "sizes": {"1": n, "2": n, "4": n, ...}, "wait_time": T}, ...}}, and of a remote_pool
/// also "nodes": {name: {"succeeded": n, "failed": {errc: n, ...}}, ...}. S is to_json(pool_status). C is
/// {"succeeded": n, "failed": {errc: n, ...}, "queue_time": T, "run_time": T}. T is {"count": n, "sum_ms",
/// "p50_ms", "p90_ms", "p99_ms", "max_ms"}, in fractions of milliseconds.
SKEP_API boost::json::object to_json(const pool_metrics& metrics);

} // namespace skep

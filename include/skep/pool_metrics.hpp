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

/// What became of calls, and how long they took.
struct call_metrics {
    std::uint64_t succeeded = 0;          ///< calls that ended with a reply
    std::map<errc, std::uint64_t> failed; ///< by what they failed with
    histogram queue_time;                 ///< of every call that is over: until it was sent, or failed unsent
    histogram run_time;                   ///< of those that were sent: since then, the last time

    /// How many have failed, whatever it was with.
    std::uint64_t failures() const noexcept {
        std::uint64_t sum = 0;
        for (const auto& [code, count] : failed) {
            sum += count;
        }
        return sum;
    }

    /// What became of those counts here too.
    void add(const call_metrics& other) {
        succeeded += other.succeeded;
        for (const auto& [code, count] : other.failed) {
            failed[code] += count;
        }
        queue_time.add(other.queue_time);
        run_time.add(other.run_time);
    }
};

/// Everything about a pool that is worth a graph, of one moment: see pool::metrics(). The calls of all commands together are
/// those that status.counters tells of.
struct pool_metrics {
    pool_status status;   ///< its counters are of the same moment
    histogram start_time; ///< of workers: until they were ready
    /// The first metrics_options::commands that a worker knew, with names of at most 128 bytes.
    std::map<std::string, call_metrics> commands;
    call_metrics others; ///< the others together

    /// All of them.
    call_metrics calls() const {
        auto sum = others;
        for (const auto& [name, each] : commands) {
            sum.add(each);
        }
        return sum;
    }
};

/// {"status": as to_json(pool_status), "start_time": T, "calls": C, "commands": {name: C, ...}, "others": C}, where C is
/// {"succeeded": n, "failed": {errc: n, ...}, "queue_time": T, "run_time": T} and T {"count": n, "sum_ms", "p50_ms",
/// "p90_ms", "p99_ms", "max_ms"}, in fractions of milliseconds.
SKEP_API boost::json::object to_json(const pool_metrics& metrics);

} // namespace skep

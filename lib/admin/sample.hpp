// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/pool_metrics.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>

namespace skep {

/// The totals of a pool's calls. A sample is the difference of two totals.
struct call_totals {
    std::uint64_t succeeded = 0;
    std::map<errc, std::uint64_t> failed; ///< by error code
    histogram queue_time;
    histogram run_time;

    static call_totals of(const pool_metrics& metrics);
};

/// Returns one point of the page's plots: {"at_ms", "queued", "in_flight", "finished", "failed", "failures":
/// {code: count}, "resident_bytes", "wait_p50_ms", "wait_p99_ms", "run_p50_ms", "run_p99_ms"}. Covers the
/// calls that have ended since `before`, and the present state. A time is null if no call has ended.
/// "resident_bytes" is the sum over all workers. The feed adds
/// "cpus", the processors that the workers used, where these are known.
boost::json::object sample_of(const pool_status& status, const call_totals& now, const call_totals& before,
                              std::int64_t at_ms);

} // namespace skep

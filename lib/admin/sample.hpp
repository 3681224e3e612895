// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_metrics.hpp>

#include <boost/json/object.hpp>

#include <cstdint>

namespace skep {

/// The totals of a pool's calls. A sample is the difference of two totals.
struct call_totals {
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    histogram queue_time;
    histogram run_time;

    static call_totals of(const pool_metrics& metrics);
};

/// Returns one point of the page's plots: {"at_ms", "queued", "in_flight", "finished", "failed",
/// "wait_p50_ms", "wait_p99_ms", "run_p50_ms", "run_p99_ms"}. Covers the calls that have ended since
/// `before`, and the present state. A time is null if no call has ended.
boost::json::object sample_of(const pool_status& status, const call_totals& now, const call_totals& before,
                              std::int64_t at_ms);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace skep {

enum class pool_phase { created, starting, running, stopping, stopped };

std::string_view to_string(pool_phase phase) noexcept;

/// One worker, as status() saw it.
struct worker_status {
    worker_id id;
    pid_t pid = 0;
    worker_state state = worker_state::created;
    worker_health health = worker_health::unknown;
    std::size_t load = 0;        ///< calls it is running
    std::size_t capacity = 0;    ///< calls it can run at a time
    std::uint64_t completed = 0; ///< calls it answered
    duration uptime{};           ///< since it became ready
    std::string last_failure;    ///< why the slot's previous worker was lost; empty if none was
};

/// Totals since start().
struct pool_counters {
    std::uint64_t submitted = 0; ///< calls to execute(); = succeeded + failed + in flight + queued
    std::uint64_t succeeded = 0; ///< ended with a reply
    std::uint64_t failed = 0;    ///< ended with an error, the following five included
    std::uint64_t remote_errors = 0;
    std::uint64_t rejected = 0; ///< pool_saturated
    std::uint64_t queue_timeouts = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t retried = 0;         ///< sent to another worker after one was lost
    std::uint64_t late_answers = 0;    ///< answers to calls that had been given up; dropped
    std::uint64_t workers_started = 0; ///< became ready
    std::uint64_t workers_lost = 0;    ///< ended though the pool did not want it
    std::uint64_t start_failures = 0;  ///< ended before they became ready
    std::uint64_t missed_pings = 0;
    std::uint64_t output_lines_dropped = 0;
};

/// One consistent picture of a pool.
struct pool_status {
    std::string name;
    pool_phase phase = pool_phase::created;
    std::size_t queued = 0;
    std::size_t in_flight = 0;
    std::vector<worker_status> workers; ///< by slot, then those that are leaving
    pool_counters counters;
};

} // namespace skep

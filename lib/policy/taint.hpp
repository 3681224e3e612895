// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_class.hpp>
#include <skep/exit_status.hpp>
#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <cstddef>

namespace skep {

/// Holds a slot back after crashes of the configured kinds: for the taint time, doubled with each crash in a
/// row up to the longest. A worker that served for as long as the last taint ends the row.
class taint {
public:
    /// Records the end of a worker as `kind`, with `status`, at `now`, `service_time` after the worker became
    /// ready.
    /// Returns true if the end taints the slot anew.
    bool ended(exit_class kind, const exit_status& status, duration service_time,
               const crash_barrier_options& options, time_point now);

    /// Returns the end of the taint; in the past if the slot is not held back.
    time_point until() const noexcept { return end_time_; }

    bool is_tainted(time_point now) const noexcept { return now < end_time_; }

    /// Returns the earliest start of a worker. A pool with no other worker in service or starting is not held
    /// back: a worker that may crash is better than no worker.
    time_point earliest_start(std::size_t others_alive) const noexcept {
        return others_alive == 0 ? time_point::min() : end_time_;
    }

private:
    time_point end_time_{};
    duration last_{}; ///< the last taint of the row; 0 = no row
};

} // namespace skep

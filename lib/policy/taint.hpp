// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_class.hpp>
#include <skep/exit_status.hpp>
#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <cstddef>

namespace skep {

/// How long a slot is held back after crashes of the configured kinds: the taint time, doubling with each crash in a
/// row up to the longest. A worker that did its job for as long as the last taint ends the row.
class taint {
public:
    /// A worker of the slot has ended as `kind`, with `status`, at `now`, `service_time` after it became ready. True if
    /// that taints the slot anew.
    bool ended(exit_class kind, const exit_status& status, duration service_time,
               const crash_barrier_options& options, time_point now);

    /// Until when the slot is held back; in the past if it is not.
    time_point until() const noexcept { return end_time_; }

    bool is_tainted(time_point now) const noexcept { return now < end_time_; }

    /// When the slot may start a worker. A pool that has no other in service or on its way is not held back: better
    /// one that may crash than none.
    time_point earliest_start(std::size_t others_alive) const noexcept {
        return others_alive == 0 ? time_point::min() : end_time_;
    }

private:
    time_point end_time_{};
    duration last_{}; ///< the last taint of the row; 0 = no row
};

} // namespace skep

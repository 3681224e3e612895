// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/pool_config.hpp>

#include <cstdint>

namespace skep {

/// The end of one process of a slot: the facts that matter for the restart.
struct worker_death {
    bool retired = false; ///< by the pool, as planned or for a fault
    bool became_ready = false;
    duration uptime{}; ///< since ready
    std::uint64_t completed = 0;
    exit_status status;
};

/// Returns the slot's count of fruitless processes in a row after this death. A process that completed a
/// call, or lived for stable_after, resets the count. A process retired by the pool leaves the count
/// unchanged. A process killed from outside (SIGKILL, SIGTERM) raises the count to at least 1 and no further:
/// the kill says little about the next start, and a growing backoff would leave the pool empty.
int next_failure_streak(int streak, const worker_death& death, const restart_options& options) noexcept;

/// Returns the wait before the slot's next start: zero after a streak of 0, otherwise initial_backoff,
/// doubled with each failure up to max_backoff and varied by `jitter`. `random` is uniform in [0, 1).
duration backoff_delay(int streak, double random, const restart_options& options) noexcept;

} // namespace skep

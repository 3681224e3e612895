// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/pool_config.hpp>

#include <cstdint>

namespace skep {

/// How one process of a slot ended, as far as restarting cares.
struct worker_death {
    bool retired = false; ///< by us, for what it was asked to do
    bool became_ready = false;
    duration uptime{}; ///< since ready
    std::uint64_t completed = 0;
    exit_status status;
};

/// The slot's count of fruitless processes in a row after this death: one that did work, or lived for
/// stable_after, forgives what came before. One that we retired says nothing about the next. One that somebody
/// killed (SIGKILL, SIGTERM) counts once, however often it happens: that says little about whether the next will
/// start, and waiting longer and longer would leave the pool empty.
int next_failure_streak(int streak, const worker_death& death, const restart_options& options) noexcept;

/// `wait`, longer or shorter by up to `share` of it. `random` is uniform in [0, 1).
duration with_jitter(duration wait, double share, double random) noexcept;

/// How long the slot waits before its next start: nothing after a streak of 0, then initial_backoff, doubling
/// up to max_backoff, varied by `jitter`. `random` is uniform in [0, 1).
duration backoff_delay(int streak, double random, const restart_options& options) noexcept;

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/backoff.hpp"
#include "policy/taint.hpp"
#include <skep/pool_config.hpp>

#include <tuple>

namespace skep {

/// When a vacant slot may have a worker again: after the backoff that the ends of its last ones call for, not while it is
/// tainted by a crash, and not before it is known how the last one ended. `random` is uniform in [0, 1).
class slot_plan {
public:
    slot_plan(const restart_options& restart, const crash_barrier_options& barrier) noexcept
        : restart_(&restart), barrier_(&barrier) {}

    /// Its worker takes no more calls. `may_have_crashed`: how it ended will be known in a moment, by judged().
    void left(const worker_death& death, bool may_have_crashed, double random, time_point now);

    /// How its worker ended is known. True if that taints the slot anew.
    bool judged(exit_class kind, const worker_death& death, time_point now);

    /// So are its last answers, and no other has been started yet: they may speak for an earlier start.
    void reconsider(const worker_death& death, double random, time_point now);
    void verdict_is_out() noexcept { awaits_verdict_ = false; }

    /// A worker that was to take its place did not come up; `counts`: and it was not we who stopped it.
    void successor_failed(bool counts, double random, time_point now);

    void came_up() noexcept { due_ = {}; }

    /// A fresh worker has taken the place of one that was due. `in_vain`: it will be due as soon, and is to stay for
    /// longer each time.
    void replaced(bool in_vain, double random, time_point now);

    /// When the next replacement may be in vain.
    time_point due_in_vain() const noexcept { return due_in_vain_; }

    /// The slot is wanted again.
    void renew() noexcept;

    /// The pool begins anew.
    void reset() noexcept;

    /// Its turn in a launch is to come.
    void set_in_launch(bool is_in_launch) noexcept { in_launch_ = is_in_launch; }
    bool is_in_launch() const noexcept { return in_launch_; }

    /// When its next worker may be started, as far as it is up to the slot: beside so many others that serve or start.
    time_point earliest_start(std::size_t others) const noexcept;

    /// When a successor may be started.
    time_point due() const noexcept { return due_; }

    /// The order in which slots that are due are filled: those that crashed come last, the others take turns.
    std::tuple<bool, bool, time_point> rank(time_point now) const noexcept {
        return {taint_.is_tainted(now), awaits_verdict_, due_};
    }
    bool is_tainted(time_point now) const noexcept { return taint_.is_tainted(now); }
    bool awaits_verdict() const noexcept { return awaits_verdict_; }
    int failure_streak() const noexcept { return streak_; }

private:
    duration backoff(double random) const { return backoff_delay(streak_, random, *restart_); }

    const restart_options* restart_;
    const crash_barrier_options* barrier_;
    int streak_ = 0;
    int streak_before_ = 0; ///< the last worker left
    time_point due_;
    int streak_in_vain_ = 0;
    time_point due_in_vain_;
    bool in_launch_ = false;
    bool awaits_verdict_ = false;
    taint taint_;
};

} // namespace skep

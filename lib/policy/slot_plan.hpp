// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/backoff.hpp"
#include "policy/taint.hpp"
#include <skep/pool_config.hpp>

#include <tuple>

namespace skep {

/// Decides when a vacant slot may have a worker again: after the backoff for the ends of its last workers,
/// after the taint of a crash, and after the verdict on the end of the last worker. `random` is uniform in
/// [0, 1).
class slot_plan {
public:
    slot_plan(const restart_options& restart, const crash_barrier_options& barrier) noexcept
        : restart_(&restart), barrier_(&barrier) {}

    /// The worker takes no more calls. `may_have_crashed`: judged() soon tells how the worker ended.
    void left(const worker_death& death, bool may_have_crashed, double random, time_point now);

    /// The end of the worker is known. Returns true if the end taints the slot anew.
    bool judged(exit_class kind, const worker_death& death, time_point now);

    /// The last answers of the worker are known, and no other worker has been started: the answers may permit
    /// an earlier start.
    void reconsider(const worker_death& death, double random, time_point now);
    void verdict_is_out() noexcept { awaits_verdict_ = false; }

    /// The successor of a worker that stays until replaced did not come up. `counts`: the pool did not stop
    /// the successor.
    void successor_failed(bool counts, double random, time_point now);

    void came_up() noexcept { due_ = {}; }

    /// A fresh worker has replaced a worker that was due. `in_vain`: the fresh worker will be due as soon,
    /// and stays longer each time.
    void replaced(bool in_vain, double random, time_point now);

    /// Returns the time at which the next replacement in vain may begin.
    time_point due_in_vain() const noexcept { return due_in_vain_; }

    /// The slot is wanted again.
    void renew() noexcept;

    /// The pool begins anew.
    void reset() noexcept;

    /// Sets whether the slot waits for its turn in a launch.
    void set_in_launch(bool is_in_launch) noexcept { in_launch_ = is_in_launch; }
    bool is_in_launch() const noexcept { return in_launch_; }

    /// Returns the earliest start of the next worker, as far as the slot decides. `others`: workers of other
    /// slots that serve or start.
    time_point earliest_start(std::size_t others) const noexcept;

    /// Returns the earliest start of a successor.
    time_point due() const noexcept { return due_; }

    /// Returns the order of filling due slots: crashed slots come last, the others take turns.
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
    int streak_before_ = 0; ///< before the last worker left
    time_point due_;
    int streak_in_vain_ = 0;
    time_point due_in_vain_;
    bool in_launch_ = false;
    bool awaits_verdict_ = false;
    taint taint_;
};

} // namespace skep

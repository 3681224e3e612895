// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/slot_plan.hpp"

#include <algorithm>

namespace skep {

void slot_plan::left(const worker_death& death, bool may_have_crashed, double random, time_point now) {
    streak_before_ = streak_;
    streak_ = next_failure_streak(streak_, death, *restart_);
    due_ = now + backoff(random);
    awaits_verdict_ = barrier_->enabled && may_have_crashed;
}

bool slot_plan::judged(exit_class kind, const worker_death& death, time_point now) {
    return taint_.ended(kind, death.status, death.uptime, *barrier_, now);
}

void slot_plan::reconsider(const worker_death& death, double random, time_point now) {
    const auto streak = next_failure_streak(streak_before_, death, *restart_);
    if (streak < streak_) {
        streak_ = streak;
        due_ = std::min(due_, now + backoff(random));
    }
}

void slot_plan::successor_failed(bool counts, double random, time_point now) {
    streak_ += counts ? 1 : 0;
    due_ = now + backoff(random);
}

void slot_plan::replaced(bool in_vain, double random, time_point now) {
    streak_in_vain_ = in_vain ? streak_in_vain_ + 1 : 0;
    due_in_vain_ = now + backoff_delay(streak_in_vain_, random, *restart_);
}

void slot_plan::renew() noexcept {
    in_launch_ = false;
    due_ = {};
    streak_ = 0;
}

void slot_plan::reset() noexcept {
    streak_ = 0;
    due_ = {};
    streak_in_vain_ = 0;
    due_in_vain_ = {};
    awaits_verdict_ = false;
    taint_ = {};
}

time_point slot_plan::earliest_start(std::size_t others) const noexcept {
    const bool waits = awaits_verdict_ && others > 0; // the verdict comes soon
    return waits || in_launch_ ? time_point::max() : std::max(due_, taint_.earliest_start(others));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/backoff.hpp"

#include "policy/jitter.hpp"

#include <algorithm>
#include <csignal>

namespace skep {

int next_failure_streak(int streak, const worker_death& death, const restart_options& options) noexcept {
    const bool fruitful = death.became_ready && (death.completed > 0 || death.uptime >= options.stable_after);
    const bool killed = death.status.signal() == SIGKILL || death.status.signal() == SIGTERM;
    if (fruitful) {
        return 0;
    }
    if (death.retired) {
        return streak;
    }
    return killed ? std::max(streak, 1) : streak + 1;
}

duration backoff_delay(int streak, double random, const restart_options& options) noexcept {
    if (streak <= 0) {
        return duration::zero();
    }
    auto delay = options.initial_backoff;
    for (int i = 1; i < streak && delay < options.max_backoff; ++i) {
        delay *= 2;
    }
    delay = std::min(delay, options.max_backoff);
    return with_jitter(delay, options.jitter, random);
}

} // namespace skep

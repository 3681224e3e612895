// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/circuit_breaker.hpp>
#include <skep/pool_config.hpp>
#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

namespace skep {

/// Restart intensity: after more than `most` unplanned ends of workers within a sliding window, the pool may
/// only start trials, one at a time. The first trial that comes up lets the pool start workers again. A trial
/// that fails starts a new wait. A trial that neither comes up nor fails is abandoned after a limit.
class restart_intensity {
public:
    /// `most`: the ends tolerated in the window; 0 = any number. A trial is abandoned after
    /// options.open_time, or after `start_limit` if longer. The limit must not be shorter than a start may
    /// take: the result of an abandoned trial is ignored.
    restart_intensity(std::size_t most, const restart_options& options,
                      duration start_limit = std::chrono::minutes(1));

    /// Records an unplanned end of a worker. Opens a closed circuit; does not prolong an opening.
    void ended(time_point now);

    /// Returns the permission to start one worker, or nullopt if no worker may be started now.
    std::optional<circuit_breaker::attempt> admit(time_point now);

    /// Record the outcome of an admitted start.
    void came_up(const circuit_breaker::attempt& start, time_point now);
    void failed(const circuit_breaker::attempt& start, time_point now);
    void abandoned(const circuit_breaker::attempt& start, time_point now) { breaker_.abandoned(start, now); }

    circuit_state state(time_point now) { return breaker_.state(now); }

    /// Returns the earliest time at which admit() may admit.
    time_point next_admission(time_point now) { return breaker_.next_admission(now); }

    /// Returns the number of ends that the window still tolerates; SIZE_MAX if unlimited.
    std::size_t left(time_point now) noexcept;

    /// Begins anew, after start(). Starts admitted before must have ended.
    void reset();

private:
    void drop_old(time_point now) noexcept;

    std::size_t most_;
    duration window_;
    circuit_breaker fresh_; ///< initial state, for reset()
    circuit_breaker breaker_;
    std::deque<time_point> ends_; ///< in the window, at most most_ + 1, oldest first
};

} // namespace skep

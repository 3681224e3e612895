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

/// Restart intensity: more than so many unplanned ends of workers within a sliding window, and the pool may start no
/// more but for trials, one at a time. The first trial that comes up lets the pool start workers again; one that
/// fails makes it wait anew. A trial that neither comes up nor fails is given up in time.
class restart_intensity {
public:
    /// `most` ends in the window are tolerated; 0 = any number. A trial is given up after options.open_time, or after
    /// `start_limit` if that is longer: it must not be shorter than a start may take, for what a trial reports after
    /// it was given up is ignored.
    restart_intensity(std::size_t most, const restart_options& options,
                      duration start_limit = std::chrono::minutes(1));

    /// A worker ended that the pool had not asked to. Opens the circuit if it is closed; does not prolong an opening.
    void ended(time_point now);

    /// Permission to start one worker; nothing if none may be started now.
    std::optional<circuit_breaker::attempt> admit(time_point now);

    /// What became of a start that was admitted.
    void came_up(const circuit_breaker::attempt& start, time_point now);
    void failed(const circuit_breaker::attempt& start, time_point now);
    void abandoned(const circuit_breaker::attempt& start, time_point now) { breaker_.abandoned(start, now); }

    circuit_state state(time_point now) { return breaker_.state(now); }

    /// The earliest moment at which admit() may admit.
    time_point next_admission(time_point now) { return breaker_.next_admission(now); }

    /// How many more ends the window tolerates; SIZE_MAX if any number.
    std::size_t left(time_point now) noexcept;

    /// A new beginning, after start(). Starts admitted before must have ended.
    void reset();

private:
    void drop_old(time_point now) noexcept;

    std::size_t most_;
    duration window_;
    circuit_breaker fresh_; ///< to begin anew with
    circuit_breaker breaker_;
    std::deque<time_point> ends_; ///< in the window, at most most_ + 1, the oldest first
};

} // namespace skep

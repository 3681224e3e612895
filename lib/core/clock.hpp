// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>

namespace skep {

/// One moment on both clocks: the monotonic clock for decisions, the wall clock for people.
struct moment {
    time_point now;
    std::chrono::system_clock::time_point wall;
};

/// The clock of every timer of the library: the monotonic clock, or the manual time of a test.
struct clock {
    using duration = skep::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = skep::time_point;
    static constexpr bool is_steady = true;

    static time_point now() noexcept;

    /// Returns true while a manual_time is alive.
    static bool is_manual() noexcept;
};

/// Stops the time; only advance() moves it. For tests. At most one at a time.
class manual_time {
public:
    manual_time();
    ~manual_time();
    manual_time(const manual_time&) = delete;
    manual_time& operator=(const manual_time&) = delete;

    void advance(duration step) noexcept;
};

/// Returns `start` plus `limit`; a limit of 0 means for ever.
inline time_point after_limit(time_point start, duration limit) noexcept {
    if (limit == duration::zero() || limit > time_point::max() - start) {
        return time_point::max();
    }
    return start + limit;
}

} // namespace skep

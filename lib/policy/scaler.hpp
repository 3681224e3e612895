// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/scaling.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace skep {

/// What a scaler decides upon.
struct load_picture {
    std::size_t desired = 0;    ///< workers that there are to be now: ready, starting, or about to start
    std::size_t in_service = 0; ///< of these, those that can take calls; 0 = all
    std::size_t running = 0;    ///< calls that workers have
    std::size_t queued = 0;     ///< calls that wait
    std::size_t capacity = 1;   ///< calls at a time of one worker
    duration oldest_wait{};     ///< of the call at the head of the queue
    double utilisation = 0;     ///< busy share of the capacity in service since the last decision, 0..1
    std::size_t most = std::numeric_limits<std::size_t>::max(); ///< workers that other pools leave room for
};

struct scaling_decision {
    std::size_t desired = 0;
    std::string reason; ///< empty if nothing changes
};

/// Decides how many workers a pool is to have. It may be asked at any time, besides once per interval.
///
/// It grows, at once, when callers have waited for the target delay, to as many workers as the calls at hand need; and
/// when the utilisation, averaged over an interval, is above `up`, to as many as bring it to the middle between `down`
/// and `up`. Workers that are already starting count in both, so that one burst never overshoots. It shrinks step by
/// step, by half of what is superfluous, when for a whole cool-down neither the utilisation nor a caller's wait has
/// called for the workers it has. Growing again soon after shrinking was flapping: the cool-down doubles, up to 16
/// times, and recovers after quiet times.
class scaler {
public:
    scaler(const scaling_options& options, size_limits limits, time_point now) noexcept;

    void resize(size_limits limits) noexcept { limits_ = limits; }
    const size_limits& limits() const noexcept { return limits_; }
    bool is_on() const noexcept { return limits_.min < limits_.max; }

    scaling_decision decide(const load_picture& load, time_point now);

    /// The cool-down in force, penalty included.
    duration cool_down() const noexcept;

private:
    void watch(const load_picture& load, time_point now) noexcept;
    void begin_window(time_point now) noexcept;
    void forgive(time_point now) noexcept;

    scaling_decision choose(const load_picture& load, time_point now);
    size_limits bounds(const load_picture& load) const noexcept;
    scaling_decision judge_window(const load_picture& load, time_point now);
    scaling_decision grow(std::size_t target_count, std::string reason, time_point now);
    scaling_decision shrink(const load_picture& load, time_point now);
    void not_quiet(time_point now) noexcept;

    scaling_options options_;
    size_limits limits_;
    time_point window_began_; ///< the utilisation is averaged since then
    time_point last_look_;
    double busy_ = 0;                       ///< in the window, in worker-seconds
    time_point quiet_since_;                ///< since when there have been more workers than needed
    double peak_ = 0;                       ///< the most workers that were busy in a window since then
    std::optional<time_point> last_shrink_; ///< unless it has grown since
    time_point calm_since_;                 ///< the last change, or when a doubling was taken back
    int penalty_ = 0;                       ///< doublings of the cool-down
};

} // namespace skep

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

/// The input of a scaling decision.
struct load_picture {
    std::size_t desired = 0;    ///< wanted workers: ready, starting, or about to start
    std::size_t in_service = 0; ///< wanted workers that can take calls; 0 = all
    std::size_t running = 0;    ///< calls in flight
    std::size_t queued = 0;     ///< calls in the queue
    std::size_t capacity = 1;   ///< concurrent calls per worker
    duration oldest_wait{};     ///< wait of the call at the head of the queue
    double utilisation = 0;     ///< busy share of the capacity in service since the last decision, 0..1
    std::size_t most = std::numeric_limits<std::size_t>::max(); ///< workers that other pools leave room for
};

struct scaling_decision {
    std::size_t desired = 0;
    std::string reason; ///< empty if nothing changes
};

/// Decides the number of workers of a pool. decide() runs once per interval, and may run at any other time.
///
/// The scaler grows at once in two cases:
/// - Callers have waited for the target delay. Grows to as many workers as the present calls need.
/// - The utilisation, averaged over an interval, is above `up`. Grows to as many workers as bring the
///   utilisation to the middle between `down` and `up`.
///
/// Workers already starting count in both cases, so that one burst never overshoots.
///
/// The scaler shrinks step by step, by half of the surplus, if for a whole cool-down neither the utilisation
/// nor a caller's wait needed the present workers. Growing again soon after shrinking is flapping: the
/// cool-down then doubles, up to 16-fold, and recovers after quiet times.
class scaler {
public:
    scaler(const scaling_options& options, size_limits limits, time_point now) noexcept;

    void resize(size_limits limits) noexcept { limits_ = limits; }
    const size_limits& limits() const noexcept { return limits_; }
    bool is_on() const noexcept { return limits_.min < limits_.max; }

    scaling_decision decide(const load_picture& load, time_point now);

    /// Returns the cool-down in force, including the penalty.
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
    time_point window_began_; ///< begin of the interval over which the utilisation is averaged
    time_point last_look_;
    double busy_ = 0;                       ///< in the window, in worker-seconds
    time_point quiet_since_;                ///< begin of the surplus of workers
    double peak_ = 0;                       ///< the most busy workers in a window since quiet_since_
    std::optional<time_point> last_shrink_; ///< empty if the pool has grown since
    time_point calm_since_; ///< time of the last change, or of the last halving of the cool-down
    int penalty_ = 0;       ///< doublings of the cool-down
};

} // namespace skep

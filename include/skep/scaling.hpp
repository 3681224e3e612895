// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>

namespace skep {

/// How many workers a pool may have.
struct size_limits {
    size_limits() = default;
    /// Any number between these, by autoscaling.
    size_limits(std::size_t fewest, std::size_t most) : min(fewest), max(most) {}
    /// This number, and no other.
    explicit size_limits(std::size_t size) : size_limits(size, size) {}

    std::size_t min = 0; ///< 1..max
    std::size_t max = 0; ///< min..10,000
};

/// Autoscaling: on where min and max differ.
struct scaling_options {
    std::size_t initial =
        0;               ///< workers at start, min..max; 0 = pool_config::workers, brought within min..max
    std::size_t min = 0; ///< 0 = pool_config::workers
    std::size_t max = 0; ///< 0 = pool_config::workers, or min if that is more

    double up = 0.8;   ///< utilisation (busy share of the capacity) above which it grows, down..1
    double down = 0.3; ///< utilisation below which it shrinks, 0..up
    duration interval = std::chrono::seconds(60); ///< between looks at the utilisation, 10 ms..1 h
    duration target_queue_delay =
        std::chrono::milliseconds(100);            ///< callers that wait longer make it grow, 0..1 h
    duration cool_down = std::chrono::seconds(60); ///< of quiet before it shrinks, and between steps, 0..24 h
};

} // namespace skep

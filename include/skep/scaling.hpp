// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace skep {

/// Limits for the number of workers of a pool.
struct size_limits {
    size_limits() = default;
    /// Allows any number between `fewest` and `most`; autoscaling decides.
    size_limits(std::size_t fewest, std::size_t most) : min(fewest), max(most) {}
    /// Fixes the number of workers.
    explicit size_limits(std::size_t size) : size_limits(size, size) {}

    std::size_t min = 0; ///< 1..max
    std::size_t max = 0; ///< min..10,000
};

/// Autoscaling: active if min and max differ.
struct scaling_options {
    /// Workers at start, min..max; unset = pool_config::workers, limited to min..max.
    std::optional<std::size_t> initial;
    std::optional<std::size_t> min; ///< fewest workers, 1..10,000; unset = pool_config::workers
    std::optional<std::size_t> max; ///< most workers, 1..10,000; unset = the larger of pool_config::workers
                                    ///< and min

    double up = 0.8;   ///< the pool grows above this utilisation (busy share of the capacity), down..1
    double down = 0.3; ///< the pool shrinks below this utilisation, 0..up
    duration interval = std::chrono::seconds(60); ///< between measurements of the utilisation, 10 ms..1 h
    duration target_queue_delay =
        std::chrono::milliseconds(100); ///< the pool grows when callers wait longer, 0..1 h
    duration cool_down =
        std::chrono::seconds(60); ///< quiet time before the pool shrinks, and between steps, 0..24 h
};

} // namespace skep

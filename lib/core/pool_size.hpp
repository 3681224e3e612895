// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <algorithm>
#include <cstddef>

namespace skep {

/// The worker counts of a configuration, with its zeros replaced by defaults.
struct pool_size {
    std::size_t initial;
    size_limits limits;
};

/// `size` is pool_config::workers, or the default that 0 stands for.
inline pool_size size_of(const scaling_options& scaling, std::size_t size) {
    const auto fewest = scaling.min != 0   ? scaling.min
                        : scaling.max != 0 ? std::min(size, scaling.max)
                                           : size;
    const auto most = scaling.max != 0 ? scaling.max : std::max(size, fewest);
    const auto initial =
        scaling.initial != 0 ? scaling.initial : std::clamp(size, fewest, std::max(fewest, most));
    return {initial, size_limits(fewest, most)};
}

/// Returns the number of workers reserved for a pool, independent of other pools: the larger of its minimum
/// and the number that its start needs.
inline std::size_t reserved_size(const pool_size& size, std::size_t min_ready) {
    return std::max(size.limits.min, min_ready);
}

} // namespace skep

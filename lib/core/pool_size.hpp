// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <algorithm>
#include <cstddef>

namespace skep {

/// The worker counts of a configuration, with defaults for those that are not set.
struct pool_size {
    std::size_t initial;
    size_limits limits;
};

/// `size` is pool_config::workers, or its default.
inline pool_size size_of(const scaling_options& scaling, std::size_t size) {
    const auto fewest = scaling.min.value_or(std::min(size, scaling.max.value_or(size)));
    const auto most = scaling.max.value_or(std::max(size, fewest));
    const auto initial = scaling.initial.value_or(std::clamp(size, fewest, std::max(fewest, most)));
    return {initial, size_limits(fewest, most)};
}

/// Returns the number of workers reserved for a pool, independent of other pools: the larger of its minimum
/// and the number that its start needs.
inline std::size_t reserved_size(const pool_size& size, std::size_t min_ready) {
    return std::max(size.limits.min, min_ready);
}

} // namespace skep

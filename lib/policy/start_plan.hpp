// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <cstddef>

namespace skep {

/// Returns the number of `due_count` workers to start now. At most `batch_size` workers start at a time, so
/// that a mass of lost workers does not return as a herd. `at_least`: started in any case by the safety tick,
/// so that workers hanging in their start cannot keep a pool from healing.
constexpr std::size_t starts_allowed(std::size_t due_count, std::size_t starting_count,
                                     std::size_t batch_size, std::size_t at_least) noexcept {
    const auto room = batch_size > starting_count ? batch_size - starting_count : 0;
    return std::min(due_count, std::max(room, at_least));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// What a worker takes in the host: data, control, stdout, stderr, its pidfd and our end of its leash.
inline constexpr std::size_t descriptors_of_worker = 6;

/// What a launch takes besides, while it lasts: the far ends of the former, /dev/null, and a pipe for its report. There is
/// one launch at a time.
inline constexpr std::size_t descriptors_of_launch = 8;

/// The guard: its line and its pidfd.
inline constexpr std::size_t descriptors_of_guard = 2;

/// Of a pool of so many workers, each of which may still be ending while another takes its place.
constexpr std::size_t descriptors_of_pool(std::size_t workers) noexcept {
    return 2 * workers * descriptors_of_worker + descriptors_of_launch + descriptors_of_guard;
}

} // namespace skep

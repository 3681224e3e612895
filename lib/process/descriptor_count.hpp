// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// Descriptors per worker in the host: data, control, stdout, stderr, pidfd and the host's end of the leash.
inline constexpr std::size_t descriptors_of_worker = 6;

/// Additional descriptors during a launch: the far ends of the worker's descriptors, /dev/null and a pipe for
/// the report. Launches run one at a time.
inline constexpr std::size_t descriptors_of_launch = 8;

/// The guard's descriptors: its socket and its pidfd.
inline constexpr std::size_t descriptors_of_guard = 2;

/// Descriptors of a template: its line and its output, and the pidfd, the line and the leash of its nursery.
inline constexpr std::size_t descriptors_of_template = 6;

/// The descriptors of an io_context: epoll, its timer and its interrupter.
inline constexpr std::size_t descriptors_of_context = 3;

/// Descriptors of a pool with `workers` workers. Each worker may still be ending while its replacement
/// starts.
constexpr std::size_t descriptors_of_pool(std::size_t workers) noexcept {
    return 2 * workers * descriptors_of_worker + descriptors_of_launch + descriptors_of_guard;
}

/// Additional descriptors of a pool that shares memory: a line to each worker, the unused region for results
/// of each, also while it is ending, the far end of a line during a launch, a region on its way, and the
/// sealed memory of one answer of each worker.
constexpr std::size_t descriptors_of_regions(std::size_t workers) noexcept {
    return 5 * workers + 2;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>

namespace skep {

namespace detail {

extern std::atomic<unsigned> process_generation;

} // namespace detail

/// Differs between a process and the copies that fork() makes of it, and theirs; never 0. Costs no system call.
inline unsigned process_generation() noexcept {
    return detail::process_generation.load(std::memory_order_relaxed);
}

/// Whether this process is a forked copy of the one that had `generation`. No process has 0.
inline bool is_copy_of(unsigned generation) noexcept {
    return generation != 0 && generation != process_generation();
}

} // namespace skep

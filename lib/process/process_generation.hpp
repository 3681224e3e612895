// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>

namespace skep {

namespace detail {

extern std::atomic<unsigned> process_generation;

} // namespace detail

/// Returns a number, never 0, that differs between a process, the copies that fork() makes of it, and their
/// copies. Makes no system call.
inline unsigned process_generation() noexcept {
    return detail::process_generation.load(std::memory_order_relaxed);
}

/// Returns true if this process is a forked copy of the process with `generation`. 0 matches no process.
inline bool is_copy_of(unsigned generation) noexcept {
    return generation != 0 && generation != process_generation();
}

} // namespace skep

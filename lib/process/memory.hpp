// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <sys/types.h>

namespace skep {

/// The resident memory of a process in bytes.
struct resident_memory {
    std::uint64_t bytes = 0;  ///< all; 0 if unknown
    std::uint64_t shared = 0; ///< part of `bytes`: of files and of memory shared with other processes
};

/// Returns the resident memory of one process, without its children.
resident_memory process_resident_memory(pid_t pid) noexcept;

/// Returns the number of processes that the kernel has killed since boot for lack of memory, the machine's or
/// a cgroup's; 0 if unknown.
std::uint64_t oom_kills() noexcept;

} // namespace skep

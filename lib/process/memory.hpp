// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <sys/types.h>

namespace skep {

/// Returns the resident memory of one process in bytes, without its children; 0 if unknown.
std::uint64_t process_resident_bytes(pid_t pid) noexcept;

/// Returns the number of processes that the kernel has killed since boot for lack of memory, the machine's or
/// a cgroup's; 0 if unknown.
std::uint64_t oom_kills() noexcept;

} // namespace skep

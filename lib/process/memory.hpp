// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <sys/types.h>

namespace skep {

/// Resident memory of one process, without its children, in bytes; 0 if it cannot be told.
std::uint64_t process_resident_bytes(pid_t pid) noexcept;

/// How often the kernel has killed a process for lack of memory, its own or a cgroup's, since the machine was
/// started; 0 if it does not tell.
std::uint64_t oom_kills() noexcept;

} // namespace skep

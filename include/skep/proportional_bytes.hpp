// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <cstdint>
#include <sys/types.h>

namespace skep {

/// Returns the proportional memory of a process of this machine, in bytes: its own pages, and its share of
/// each page that it shares with other processes. The sum over the workers of a pool with
/// launch_options::preload, their pids from pool::status(), and their template is the memory that the pool
/// takes. Returns 0 if there is no such process, or if this process may not know.
/// Blocks for as long as the kernel needs to look through the memory, about a millisecond per GiB, and longer
/// if the process allocates memory at the same time: not for a periodic look.
/// Thread safety: safe.
SKEP_API std::uint64_t proportional_bytes(pid_t process) noexcept;

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sys/types.h>

namespace skep {

/// A set of CPUs, as large as the largest kernel's.
struct cpu_mask {
    std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))> bits{};

    bool operator==(const cpu_mask&) const = default;
};

/// Returns the affinity mask of a thread; 0 is the calling thread. Empty if it cannot be read.
std::optional<cpu_mask> cpus_of_thread(pid_t thread) noexcept;

/// Returns the CPUs that any thread of this process may run on. A mask belongs to a thread: the mask of one
/// pinned thread does not describe the process. A mask set before the start of the process holds for all
/// threads.
std::optional<cpu_mask> cpus_of_process();

/// Returns the number of CPUs that this process may keep busy, at least 1: the size of its affinity mask,
/// limited by the CPU quota of its control groups, with a fraction rounded up. `root` is the parent directory
/// of /proc and /sys.
std::size_t usable_cpus(const std::filesystem::path& root = "/");

/// Returns the limit of the control groups alone; 0 if they have no limit, or cannot be read.
std::size_t cpu_quota(const std::filesystem::path& root);

} // namespace skep

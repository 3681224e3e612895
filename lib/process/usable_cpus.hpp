// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sys/types.h>

namespace skep {

/// A set of CPUs, as large as that of the largest kernel.
struct cpu_mask {
    std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))> bits{};

    bool operator==(const cpu_mask&) const = default;
};

/// The affinity mask of a thread, 0 being the calling one; empty if it cannot be read.
std::optional<cpu_mask> cpus_of_thread(pid_t thread) noexcept;

/// The CPUs that any thread of this process may run on. A mask belongs to a thread: one that is pinned, whichever it is,
/// says nothing of the process. A mask that the process was started with holds for all threads.
std::optional<cpu_mask> cpus_of_process();

/// How many CPUs this process may keep busy: those of its affinity mask, and no more than the CPU quota of its control
/// groups (a part of one counts as one); at least 1. `root` is where /proc and /sys are.
std::size_t usable_cpus(const std::filesystem::path& root = "/");

/// What the quotas of the control groups alone leave it; 0 if they limit nothing, or cannot be read.
std::size_t cpu_quota(const std::filesystem::path& root);

} // namespace skep

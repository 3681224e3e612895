// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <filesystem>

namespace skep {

/// How many CPUs this process may keep busy: those of its affinity mask, and no more than the CPU quota of its control
/// groups (a part of one counts as one); at least 1. `root` is where /proc and /sys are.
std::size_t usable_cpus(const std::filesystem::path& root = "/");

/// What the quotas of the control groups alone leave it; 0 if they limit nothing, or cannot be read.
std::size_t cpu_quota(const std::filesystem::path& root);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/shipped_files.hpp"
#include "process/usable_cpus.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>

namespace skep {

using variables = std::map<std::string, std::string>;

/// Attributes of a process, shared by its threads and inherited by its children. A limit that cannot be read
/// is empty.
struct process_state {
    std::optional<mode_t> umask;
    std::array<std::optional<rlimit>, RLIM_NLIMITS> limits;
};

/// Attributes of a thread, inherited by the processes that the thread creates. A member that cannot be read
/// is empty.
struct thread_state {
    /// In the format of the system call. `nodes` has MAX_NUMNODES bits, the maximum of the kernel.
    struct memory_policy {
        int mode = 0;
        std::array<unsigned long, 1024 / (8 * sizeof(unsigned long))> nodes{};

        bool operator==(const memory_policy&) const = default;
    };

    std::optional<cpu_mask> cpus;
    std::optional<int> policy; ///< scheduling policy; never a real-time policy
    std::optional<int> niceness;
    std::optional<int> io_priority;
    std::optional<int> timer_slack; ///< in ns
    std::optional<memory_policy> memory;
    std::optional<unsigned long> personality;
};

/// The part of the host's state that workers inherit. Directory, environment and limits may change at any
/// time, and launches happen later on another thread, so the state is captured once.
struct host_state {
    std::filesystem::path directory; ///< absolute; empty if it was deleted
    variables environment;           ///< without the variables that are for the host alone
    shipped_choice shipped;
    process_state process;
    thread_state thread;
};

/// Captures the state of this process. Called on the thread that creates a pool.
host_state take_host_state();

/// Applies `state` to the calling thread, for the processes that the thread will create. Skips settings
/// without permission. Makes only system calls that change a setting: a system call filter may end the
/// process for any other.
void assume(const thread_state& state) noexcept;

} // namespace skep

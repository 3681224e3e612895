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

/// What a process has once, for all of its threads, and hands on to its children. A limit that cannot be read is empty.
struct process_state {
    std::optional<mode_t> umask;
    std::array<std::optional<rlimit>, RLIM_NLIMITS> limits;
};

/// What each thread has of its own, and hands on to the processes that it creates. A member that cannot be read is empty.
struct thread_state {
    /// As the system call has it. The nodes are MAX_NUMNODES bits of the largest kernel.
    struct memory_policy {
        int mode = 0;
        std::array<unsigned long, 1024 / (8 * sizeof(unsigned long))> nodes{};

        bool operator==(const memory_policy&) const = default;
    };

    std::optional<cpu_mask> cpus;
    std::optional<int> policy; ///< of scheduling; never a real-time policy
    std::optional<int> niceness;
    std::optional<int> io_priority;
    std::optional<int> timer_slack; ///< in ns
    std::optional<memory_policy> memory;
    std::optional<unsigned long> personality;
};

/// The part of the host that its workers start with. Directory, environment and limits may change at any time, and a
/// launch happens later, on another thread: so all of it is taken once.
struct host_state {
    std::filesystem::path directory; ///< absolute; empty if it was deleted
    variables environment;           ///< without the variables that are for the host alone
    shipped_choice shipped;
    process_state process;
    thread_state thread;
};

/// Reads the state of this process. For the thread that makes a pool.
host_state take_host_state();

/// Gives the calling thread `state`, for the processes that it will create; what is not permitted stays as it is. Makes no
/// call that would change nothing: a filter of system calls may end the process for it.
void assume(const thread_state& state) noexcept;

} // namespace skep

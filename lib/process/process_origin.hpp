// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <optional>
#include <sys/types.h>

namespace skep {

/// Parent and start of a process, as /proc tells.
struct process_origin {
    pid_t parent = 0;
    long long start = 0; ///< in ticks since the boot of the machine
};

/// Returns nullopt for a process that does not exist.
std::optional<process_origin> origin_of(pid_t pid);

/// Returns the present time in the unit of process_origin::start.
long long present_ticks() noexcept;

/// Returns the pid of the process that `pidfd` refers to; -1 if the process is collected; nullopt if the
/// descriptor refers to something else.
std::optional<pid_t> pid_of(int pidfd);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include <skep/exit_status.hpp>

#include <chrono>
#include <sys/types.h>

namespace skep {

/// Whether the child behind `pidfd` has ended. Leaves its status where it is, and true if somebody else has taken it.
bool has_ended(int pidfd) noexcept;

/// Collects the status of a child that has ended; exit_status::taken() if somebody else has.
exit_status collect(int pidfd) noexcept;

/// What a process that has got a SIGKILL needs at most, unless the kernel holds it.
inline constexpr std::chrono::seconds to_die(2);

/// Collects a child that has got a SIGKILL. One that does not end within `patience` is left to a thread of its own, which
/// collects it whenever it ends. Returns whether it has ended.
bool collect_killed(unique_fd pidfd, std::chrono::milliseconds patience = to_die) noexcept;

/// Whether nobody is left in the process group, whose leader has been collected. By then the number of the group may be
/// that of another one, which a signal 0 does not harm: true is sure, and false is a reason to wait, within a limit.
bool is_empty_group(pid_t group) noexcept;

/// Waits until the group is empty or `deadline`.
void await_empty_group(pid_t group, std::chrono::steady_clock::time_point deadline) noexcept;

} // namespace skep

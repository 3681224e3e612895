// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include <skep/exit_status.hpp>

#include <chrono>
#include <memory>
#include <sys/types.h>

namespace skep {

/// Returns true if the child of `pidfd` has ended, or if other code has collected its status. Leaves the
/// status uncollected.
bool has_ended(int pidfd) noexcept;

/// Waits until the process of `pidfd` has ended. Returns false if `patience` is over before.
bool ends_within(int pidfd, std::chrono::milliseconds patience) noexcept;

/// Returns the status that waitid() describes with `code` and `status`.
exit_status status_of(int code, int status) noexcept;

/// Collects the status of an ended child. Returns exit_status::taken() if other code has collected it.
exit_status collect(int pidfd) noexcept;

/// Longest time from SIGKILL to the end of a process, unless the kernel holds the process.
inline constexpr std::chrono::seconds to_die(2);

/// Collects a child after SIGKILL. If the child has not ended within `patience`, starts a thread that
/// collects it at its end, and holds `token` until then. Returns true if the child has ended.
bool collect_killed(unique_fd pidfd, std::chrono::milliseconds patience = to_die,
                    std::shared_ptr<const void> token = nullptr) noexcept;

/// Returns true if the process group is empty. Preconditions: its leader was collected. The kernel may have
/// reused the group's number by then; signal 0 does no harm. True is certain; false is a reason to wait,
/// within a limit.
bool is_empty_group(pid_t group) noexcept;

/// Waits until the group is empty or `deadline` passes.
void await_empty_group(pid_t group, std::chrono::steady_clock::time_point deadline) noexcept;

} // namespace skep

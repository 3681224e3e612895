// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/unique_fd.hpp"
#include <skep/exit_status.hpp>

#include <chrono>

namespace skep {

/// Whether the child behind `pidfd` has ended. Leaves its status where it is, and true if somebody else has taken it.
bool has_ended(int pidfd) noexcept;

/// Collects the status of a child that has ended; exit_status::taken() if somebody else has.
exit_status collect(int pidfd) noexcept;

/// What a process that has got a SIGKILL needs at most, unless the kernel holds it.
inline constexpr std::chrono::seconds to_die(2);

/// Collects a child that has got a SIGKILL. One that does not end within `patience` is left to a thread of its own, which
/// collects it whenever it ends.
void collect_killed(unique_fd pidfd, std::chrono::milliseconds patience = to_die) noexcept;

} // namespace skep

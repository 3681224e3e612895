// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <optional>
#include <sys/types.h>

namespace skep {

/// Returns the processor time that all threads of a process have used so far, without its children;
/// std::nullopt if unknown.
std::optional<duration> process_cpu_time(pid_t pid) noexcept;

} // namespace skep

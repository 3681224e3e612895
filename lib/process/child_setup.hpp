// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"

#include <array>
#include <sys/types.h>

namespace skep {

/// All that a child needs between vfork and exec, prepared beforehand.
struct child_plan {
    const char* executable;
    char* const* arguments;
    char* const* environment;
    const char* directory;          ///< nullptr: stay
    std::array<int, 6> descriptors; ///< by their number in the child; -1: none
    int report;                     ///< where a failure is written to
    pid_t parent;
    launch_abort* abort; ///< told the child's pid, and asked before exec
};

/// What a child writes when a step fails.
struct child_failure {
    launch_step step = launch_step::setup;
    int error = 0;
};

/// Creates the child with vfork and sets it up. Returns its pid, or -1 with errno set.
pid_t start_child(const child_plan& plan) noexcept;

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"

#include <sys/types.h>

namespace skep {

/// All that a child needs between its creation and exec, prepared beforehand.
struct child_plan {
    const char* executable;
    char* const* arguments;
    char* const* environment;
    const char* directory;      ///< nullptr: stay
    const process_state* state; ///< nullptr: keep what the host has
    child_descriptors descriptors;
    leash_ends leash; ///< to be armed
    bool is_guard;    ///< see launch_spec
    int report;       ///< where a failure is written to
    pid_t parent;
    launch_abort* abort; ///< told the child's pid, and asked before exec
};

/// What a child writes when a step fails.
struct child_failure {
    launch_step step = launch_step::setup;
    int error = 0;
};

/// Creates the child, which borrows the host's memory, and sets it up. Returns its pid once it is past its exec or
/// has failed, or -1 with errno set.
pid_t start_child(const child_plan& plan);

} // namespace skep

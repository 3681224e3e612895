// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"

#include <sys/types.h>

namespace skep {

/// The input of a child between its creation and exec, prepared by the host.
struct child_plan {
    const char* executable;
    char* const* arguments;
    char* const* environment;
    const char* directory;      ///< nullptr: the host's
    const process_state* state; ///< nullptr: the host's
    child_descriptors descriptors;
    leash_ends leash; ///< the child arms both ends
    bool is_guard;    ///< see launch_spec
    int report;       ///< the child writes a child_failure here
    pid_t parent;
    launch_abort* abort; ///< receives the child's pid; checked before exec
};

/// The report of a failed step.
struct child_failure {
    launch_step step = launch_step::setup;
    int error = 0;
};

/// Creates a child that borrows the host's memory, and sets the child up. Returns the pid after the child's
/// exec or failure, or -1 with errno set.
pid_t start_child(const child_plan& plan);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/guard.hpp"
#include "process/launcher.hpp"
#include <skep/error.hpp>

namespace skep {

/// A task of the spawner that a coroutine on the strand waits for. Strand and spawner share the task, because
/// either may need it last; it has no other references.
class spawner_task {
public:
    virtual ~spawner_task() = default;

    /// Runs on the spawner. Exceptions stay on this thread, because the last owner of an exception frees it.
    void run(guard& process_guard) noexcept;

    launch_abort abort;
    bool failed = true;
    bool is_of_template = false; ///< the failure, if there is one, is the template's
    error_info reason;           ///< may be empty if there was no memory

private:
    virtual void start(guard& process_guard) = 0;
    virtual void release() noexcept {} ///< what the task has acquired before it failed
};

} // namespace skep

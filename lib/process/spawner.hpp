// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/guard.hpp"
#include <skep/time.hpp>

#include <functional>
#include <memory>

namespace skep {

/// The one thread on which a pool creates processes, and the guard that belongs to it. It is started by the first
/// job, and has nothing of the thread that brings it: CPU mask, scheduling and the like are those of `host`. A job may hang, on a dead file system say; nobody waits for it without a limit.
class spawner {
public:
    using job = std::function<void(guard&)>;

    spawner(launcher launch, std::shared_ptr<const host_state> host);
    ~spawner();
    spawner(const spawner&) = delete;
    spawner& operator=(const spawner&) = delete;

    /// Runs `work`, which must not throw, after all that was posted before; then `then`, unless stop() has given up
    /// waiting: what `then` refers to may be gone by then. Throws error(spawn_failed) if the thread cannot be started, and in a
    /// forked copy of the process, where it does not run.
    void post(job work, std::function<void()> then);

    /// Ends the thread and the guard. Calls `hasten` every now and then until the jobs are done; after `limit` the
    /// thread is left to end by itself, whenever its job does. The next post() starts afresh.
    void stop(duration limit, const std::function<void()>& hasten);

private:
    struct state;

    launcher launch_;
    std::shared_ptr<const host_state> host_;
    std::shared_ptr<state> state_;
};

} // namespace skep

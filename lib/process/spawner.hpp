// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/guard.hpp"
#include <skep/time.hpp>

#include <functional>
#include <memory>

namespace skep {

/// The only thread of a pool that creates processes, together with its guard. The first job starts the
/// thread. CPU mask, scheduling and similar attributes come from `host`, not from the thread that posts the
/// job. A job may hang, for example on a dead file system, so every wait for a job has a limit.
class spawner {
public:
    using job = std::function<void(guard&)>;

    spawner(launcher launch, std::shared_ptr<const host_state> host);
    ~spawner();
    spawner(const spawner&) = delete;
    spawner& operator=(const spawner&) = delete;

    /// Runs `work`, which must not throw, after all jobs posted before; then calls `then`, unless stop() has
    /// given up waiting: objects that `then` refers to may have been destroyed by then. Throws
    /// error(spawn_failed) if the thread cannot be started, and in a forked copy of the process, where the
    /// thread does not run.
    void post(job work, std::function<void()> then);

    /// Ends the thread and the guard. Calls `hasten` every 10 ms until the jobs are done. After `limit`,
    /// abandons the thread; the thread ends after its job. The next post() starts a new thread.
    void stop(duration limit, const std::function<void()>& hasten);

private:
    struct state;

    launcher launch_;
    std::shared_ptr<const host_state> host_;
    std::shared_ptr<state> state_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"
#include "process/leash.hpp"

#include <memory>

namespace skep {

/// The host's side of the guard, a process beside the host that holds the leashes. When the thread that
/// started the guard ends, the guard kills each leader, and a moment later pulls each leash. The guard also
/// does so if the host is killed, has forked copies of itself, or has so much memory that its end takes the
/// kernel seconds. The guard runs in a session of its own and blocks every signal. If the guard is killed
/// nevertheless, the groups die with it, and the next leash starts a new guard.
/// Thread safety: only for use on one permanent thread.
class guard {
public:
    guard(const launcher& launch, const host_state& host);
    ~guard();
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    /// Returns a leash for the next child. Starts the guard if it is not running, unless `abort` is
    /// requested. Throws error(spawn_failed).
    leash tie(launch_abort& abort);

    /// Tells the guard the leader of the last leash's group. Throws error(spawn_failed). Preconditions: the
    /// child runs.
    void entrust(const launched_child& leader);

private:
    struct running;

    const launcher& launch_;
    const host_state& host_;
    std::unique_ptr<running> running_;
};

} // namespace skep

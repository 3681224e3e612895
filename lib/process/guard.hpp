// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"
#include "process/leash.hpp"

#include <memory>

namespace skep {

/// The host's side of a process beside it that holds the leashes. When the thread ends that the guard was started on,
/// the guard kills each leader, and a moment later pulls each leash: also if the host is killed, has forked copies of
/// itself, or has so much memory that its own end takes the kernel seconds. The guard is in a session of its own and
/// blocks every signal. Should somebody kill it all the same, the groups die with it, and the next leash starts another.
/// To be used on one permanent thread.
class guard {
public:
    guard(const launcher& launch, const host_state& host);
    ~guard();
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    /// A leash for a child that is about to be started. Starts the guard if there is none, unless `abort` is requested.
    /// Throws error(spawn_failed).
    leash tie(launch_abort& abort);

    /// The child of the last leash runs: tells the guard which process that is. Throws error(spawn_failed).
    void entrust(const launched_child& leader);

private:
    struct running;

    const launcher& launch_;
    const host_state& host_;
    std::unique_ptr<running> running_;
};

} // namespace skep

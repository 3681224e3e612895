// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"

#include <sys/types.h>
#include <utility>

namespace skep {

/// Kills a process group, with or without its leader. A leash identifies the group itself, not its number,
/// which the kernel may reuse. A leash is a socket pair; the child arms both ends before its exec. When one
/// end is written to, or closed for good, while the other end is open, the kernel itself sends SIGKILL to the
/// group. The guard holds both ends, the host one of them. So the group ends when the host pulls the leash,
/// and when the guard pulls it or ends.
/// The end of the host alone has no effect: then the guard decides when the group ends.
class leash {
public:
    leash() = default;
    leash(unique_fd host_end, unique_fd guard_end) noexcept;
    leash(leash&& other) noexcept = default;
    leash& operator=(leash&& other) noexcept {
        std::swap(host_, other.host_);
        std::swap(host_end_, other.host_end_);
        std::swap(guard_end_, other.guard_end_);
        return *this;
    }

    /// Pulls the leash, so that the guard releases it. A forked copy of the host only closes its end.
    ~leash() { pull(); }

    int host_end() const noexcept { return host_end_.get(); }
    int guard_end() const noexcept { return guard_end_.get(); }

    /// Closes the local copy of the guard's end. Preconditions: the guard has both ends, and the child has
    /// armed them.
    void disarm() noexcept { guard_end_.reset(); }

    /// Kills the group. No effect on an empty group, or in a forked copy of the host.
    void pull() const noexcept;

private:
    pid_t host_ = 0;
    unique_fd host_end_;
    unique_fd guard_end_;
};

/// Arms one end for the group of the calling process. Async-signal-safe.
bool arm_leash(int end) noexcept;

} // namespace skep

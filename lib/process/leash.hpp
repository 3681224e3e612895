// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/unique_fd.hpp"

#include <utility>

namespace skep {

/// Kills a process group, leader or not, which it knows by identity and not by a number that may be another's by
/// now. It is a socket pair whose ends the child arms before its exec: when one of them is closed, or written to, while
/// the other is open, the kernel itself sends SIGKILL to the group. The host holds one end and its guard the other, so
/// the group ends with the first of the two that does, whoever else has inherited descriptors.
class leash {
public:
    leash() = default;
    leash(unique_fd host_end, unique_fd guard_end) noexcept
        : host_end_(std::move(host_end)), guard_end_(std::move(guard_end)) {}

    int host_end() const noexcept { return host_end_.get(); }
    int guard_end() const noexcept { return guard_end_.get(); }

    /// The guard has its end, and the child has armed both.
    void hand_over() noexcept { guard_end_.reset(); }

    /// Kills the group. Of no effect once nobody is left in it.
    void pull() const noexcept;

private:
    unique_fd host_end_;
    unique_fd guard_end_;
};

/// Arms one end for the group of the calling process. Async-signal-safe.
bool arm_leash(int end) noexcept;

} // namespace skep

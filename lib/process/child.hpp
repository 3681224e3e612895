// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "process/launcher.hpp"
#include <skep/exit_status.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

namespace skep {

using descriptor = asio::posix::basic_stream_descriptor<strand>;

/// A child process and its process group: the one place that signals and reaps it. Never waits blockingly,
/// except in end_now() and the destructor, and there only for a process that has got SIGKILL.
class child {
public:
    /// `lifeline` is the host's end of the lifeline.
    child(const strand& executor, launched_child launched, unique_fd lifeline);
    ~child();
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    pid_t pid() const noexcept { return pid_; }

    /// Returns when the process has ended, or after abandon().
    asio::awaitable<void> ended();

    /// Sends `number` to the process group, as long as its leader has not been reaped: until then the kernel
    /// gives its id to no other.
    void signal_group(int number) noexcept;

    /// Sends `number` to the leader alone.
    void signal(int number) noexcept;

    /// Kills what is left of the group and collects the leader's status. The leader must have ended.
    exit_status reap() noexcept;

    void abandon() noexcept;

    /// Kills the group and waits for the leader's end, which after SIGKILL is near.
    void end_now() noexcept;

private:
    bool has_ended() const noexcept;

    pid_t pid_;
    descriptor pidfd_;
    unique_fd lifeline_;
    bool reaped_ = false;
    bool abandoned_ = false;
};

} // namespace skep

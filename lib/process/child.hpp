// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "process/launcher.hpp"
#include "process/leash.hpp"
#include <skep/exit_status.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

namespace skep {

using descriptor = asio::posix::basic_stream_descriptor<strand>;

/// A child process and its process group: the one place that signals and reaps it. Never waits blockingly,
/// except in end_now() and the destructor, and there for two seconds at most.
class child {
public:
    child(const strand& executor, launched_child launched, leash group);
    ~child();
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    pid_t pid() const noexcept { return pid_; }

    /// Returns when the process has ended, or after abandon().
    asio::awaitable<void> ended();

    /// SIGTERM to the group and to the process, whatever group it is in, and SIGCONT, without which one that is stopped
    /// would not see it. Nothing if the process is gone: its number may be another's.
    void terminate() noexcept;

    /// SIGKILL to the group, whether or not its leader is there, and to the process itself, whatever group it is in.
    void kill() noexcept;

    /// Sends `number` to the process itself.
    void signal(int number) noexcept;

    /// Kills what is left of the group and collects the status of the process, which must have ended; taken() if
    /// somebody else has collected it.
    exit_status reap() noexcept;

    void abandon() noexcept;

    /// Kills the group and collects the process, which after SIGKILL ends soon; see collect_killed().
    void end_now() noexcept;

private:
    bool has_ended() noexcept;
    bool is_ours() const noexcept;

    pid_t pid_;
    pid_t host_; ///< a forked copy of the host must not touch its children
    descriptor pidfd_;
    timer pause_;
    leash group_;
    bool reaped_ = false;
    bool abandoned_ = false;
};

} // namespace skep

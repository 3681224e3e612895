// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "process/launcher.hpp"
#include "process/leash.hpp"
#include <skep/exit_status.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <optional>

namespace skep {

using descriptor = asio::posix::basic_stream_descriptor<strand>;

/// A child process and its process group: the one place that signals and reaps it. Never waits blockingly,
/// except in end_now() and the destructor, and there for two seconds at most.
///
/// The leader ends first, by itself or by a SIGKILL of its own. What it has started is not to die with it: Python's
/// resource_tracker, for one, removes what the leader has left in /dev/shm. The rest of the group has a moment to end by
/// itself, and is killed then.
class child {
public:
    child(const strand& executor, launched_child new_child, leash group);
    ~child();
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    pid_t pid() const noexcept { return pid_; }

    /// Returns when the process has ended, or after abandon().
    asio::awaitable<void> ended();

    /// SIGTERM to the group and to the process, whatever group it is in, and SIGCONT, without which one that is stopped
    /// would not see it. Nothing if the process is gone: its number may be another's.
    void terminate() noexcept;

    /// SIGKILL to the process itself, whatever group it is in.
    void kill() noexcept;

    /// Sends `number` to the process itself.
    void signal(int number) noexcept;

    /// Collects the status of the process, which must have ended; taken() if somebody else has collected it.
    exit_status reap() noexcept;

    /// To be called after reap(): returns when the group is empty, or kills what is left of it when the moment is over.
    asio::awaitable<void> end_group();

    /// Whether `pid` names the process itself, or another one that belongs to its group or session.
    bool holds(pid_t pid) noexcept;

    /// Kills the group, and makes ended() and end_group() return.
    void abandon() noexcept;

    /// Does at once what is left to be done: SIGKILL to the process, which is collected, see collect_killed(); the moment
    /// for the group, which begins with the first SIGKILL; SIGKILL to the group.
    void end_now() noexcept;

private:
    bool has_ended() noexcept;
    bool is_ours() const noexcept;
    bool awaits_group() const noexcept;
    bool collect_now() noexcept;

    pid_t pid_;
    pid_t host_; ///< a forked copy of the host must not touch its children
    descriptor pidfd_;
    timer pause_;
    leash group_;
    std::optional<time_point> killed_; ///< when it got its first SIGKILL, or ended of it
    bool reaped_ = false;
    bool group_ended_ = false;
    bool abandoned_ = false;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "process/launcher.hpp"
#include "process/leash.hpp"
#include "process/nursery.hpp"
#include <skep/exit_status.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <optional>

namespace skep {

using descriptor = asio::posix::basic_stream_descriptor<strand>;

/// A child process and its process group. Only this class signals and reaps the child; the child of a nursery
/// is reaped there, and its status follows from there a moment after its end. Blocks only in
/// end_now() and in the destructor, each for two seconds at most.
///
/// Order of termination: the leader ends first, of its own accord or by a SIGKILL sent to the leader alone.
/// Its descendants have a moment (moment_for_group) to end as well: Python's resource_tracker, for example,
/// removes the files that the leader has left in /dev/shm. Then the group is killed.
class child {
public:
    child(const strand& executor, launched_child new_child, leash group);
    ~child();
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    pid_t pid() const noexcept { return pid_; }

    /// Returns when the process has ended, or after abandon().
    asio::awaitable<void> ended();

    /// Sends SIGTERM to the group and to the process, even if the process has left the group, then SIGCONT,
    /// so that a stopped process receives the SIGTERM. Does nothing after the end of the process: the kernel
    /// may have reused its pid.
    void terminate() noexcept;

    /// Sends SIGKILL to the process itself, even if the process has left the group.
    void kill() noexcept;

    /// Sends signal `number` to the process itself.
    void signal(int number) noexcept;

    /// Collects the status of the process. Returns exit_status::taken() if other code has collected the
    /// status, and exit_status::unreported() if a nursery does not report it.
    /// Preconditions: the process has ended.
    exit_status reap() noexcept;

    /// Returns when the group is empty; kills the rest of the group when the moment is over. Preconditions:
    /// reap() was called.
    asio::awaitable<void> end_group();

    /// Returns true if `pid` is the process itself or another member of its group or session.
    bool holds(pid_t pid) noexcept;

    /// Kills the group, and makes ended() and end_group() return.
    void abandon() noexcept;

    /// Completes the termination at once: kills the process and collects its status (see collect_killed()),
    /// waits for the rest of the group until the moment is over, counted from the first SIGKILL, then kills
    /// the group.
    void end_now() noexcept;

private:
    bool has_ended() noexcept;
    bool is_reported() noexcept;
    bool is_ours() const noexcept;
    bool awaits_group() const noexcept;
    bool collect_now() noexcept;

    pid_t pid_;
    pid_t host_; ///< forked copies of the host must leave its children alone
    descriptor pidfd_;
    timer pause_;
    leash group_;
    foster_parent parent_;
    std::optional<exit_status> status_;  ///< from the nursery
    std::optional<time_point> end_seen_; ///< of a child of a nursery
    std::optional<time_point> killed_;   ///< time of the first SIGKILL, or of the end caused by one
    bool reaped_ = false;
    bool group_ended_ = false;
    bool abandoned_ = false;
};

} // namespace skep

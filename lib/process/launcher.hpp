// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "process/host_state.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace skep {

/// The steps of a launch, each of which can fail.
enum class launch_step { guard, pipe, socketpair, vfork, setup, chdir, exec, pidfd_open };

std::string_view to_string(launch_step step) noexcept;

/// For tests: asked before each step; a result other than 0 is the errno with which the step fails.
using launch_fault = std::function<int(launch_step)>;

/// The child's descriptors, in the order of their numbers there. -1: of 0 to 2, the null device; of others, none.
using child_descriptors = std::array<int, 5>;

/// The two ends of a leash, to be armed by the child; -1: it goes without.
struct leash_ends {
    int host = -1;
    int guard = -1;
};

struct launch_spec {
    std::string executable;             ///< absolute path
    std::vector<std::string> arguments; ///< the first is that path, too: programs look for their files by it
    std::vector<std::string> environment;
    std::string directory;                ///< absolute; empty: that of the host at this moment
    const process_state* state = nullptr; ///< what it starts with; null: what the host has at this moment
    child_descriptors descriptors{-1, -1, -1, -1, -1};
    leash_ends leash;
    bool is_guard = false; ///< let run when the thread ends that launches it
};

/// A child that was just started: its pid, and a descriptor that names it even after its end. Kills and reaps
/// it if nobody takes it over.
class launched_child {
public:
    launched_child() = default;
    explicit launched_child(pid_t pid) noexcept : pid_(pid) {}
    launched_child(launched_child&& other) noexcept
        : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}
    launched_child& operator=(launched_child&& other) noexcept {
        std::swap(pid_, other.pid_);
        std::swap(pidfd_, other.pidfd_);
        return *this;
    }
    ~launched_child();

    pid_t pid() const noexcept { return pid_; }
    void set_pidfd(unique_fd pidfd) noexcept { pidfd_ = std::move(pidfd); }

    int pidfd() const noexcept { return pidfd_.get(); }

    /// The caller now answers for the process and owns its pidfd.
    void release() noexcept {
        pid_ = 0;
        pidfd_.release();
    }

private:
    pid_t pid_ = 0;
    unique_fd pidfd_;
};

/// Lets another thread end a launch that hangs, as one does when the program lies on a dead file system, or when
/// somebody stops the child before its exec. May be requested over and over.
class launch_abort {
public:
    /// A launch that has not come to its child fails; a child that is not past its exec gets a SIGKILL.
    void request() noexcept;

    bool is_requested() const noexcept { return requested_; }

    /// Where the kernel stores the child's pid before the child runs.
    pid_t* pid_place() noexcept {
        static_assert(sizeof child_ == sizeof(pid_t) && std::atomic<pid_t>::is_always_lock_free);
        return reinterpret_cast<pid_t*>(&child_);
    }

    /// The launch is over; the child's pid may soon be another's.
    void withdraw() noexcept;

private:
    std::atomic<bool> requested_ = false;
    std::atomic<pid_t> child_ = 0;
    std::mutex killing_;
};

/// Starts a process. In the shape of Boost.Process v2's launchers (an object called with what to set up), but safe in
/// a host with other threads: those fork, run handlers of the execution context in the child, and can hang or
/// multiply it.
///
/// The child leads a session and a process group of its own, without a controlling terminal, has default signal handling
/// and an empty signal mask, and no descriptor but those of `launch_spec`. What a thread hands on, such as its CPU mask, it
/// has of the thread that launches it. Throws error(spawn_failed) naming step and cause; then no process is
/// left.
class launcher {
public:
    explicit launcher(launch_fault fault = {}) : fault_(std::move(fault)) {}

    launched_child operator()(const launch_spec& spec, launch_abort& abort) const;

    /// Throws error(spawn_failed) if a test wants `step` to fail.
    void before(launch_step step) const;

    /// Throws error(spawn_failed) for `step` with the meaning of `number` (an errno).
    [[noreturn]] static void fail(launch_step step, int number, std::string_view subject = {});

private:
    launch_fault fault_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/unique_fd.hpp"

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
enum class launch_step { pipe, socketpair, vfork, setup, chdir, exec, pidfd_open };

std::string_view to_string(launch_step step) noexcept;

/// For tests: asked before each step; a result other than 0 is the errno with which the step fails.
using launch_fault = std::function<int(launch_step)>;

/// The child's descriptors; -1 leaves the child without one.
struct child_descriptors {
    int output = -1;   ///< becomes 1
    int errors = -1;   ///< becomes 2
    int data = -1;     ///< becomes 3
    int control = -1;  ///< becomes 4
    int lifeline = -1; ///< becomes 5
};

struct launch_spec {
    std::string executable; ///< absolute path
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::string directory; ///< empty: the host's
    child_descriptors descriptors;
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

/// Lets another thread end a launch that hangs, as one does when the program lies on a dead file system.
class launch_abort {
public:
    /// A launch that has not come to its vfork fails; the child of one between vfork and exec gets a SIGKILL.
    void request() noexcept;

    bool is_requested() const noexcept { return requested_; }

    /// The child exists and waits for its exec. Called in the child too, which shares our memory.
    void expose(pid_t child) noexcept { child_ = child; }

    /// The launch is over; the child's pid may soon be another's.
    void withdraw() noexcept;

private:
    std::atomic<bool> requested_ = false;
    std::atomic<pid_t> child_ = 0;
    std::mutex killing_;
};

/// Starts a process. In the shape of Boost.Process v2's launchers (an object called with executable,
/// arguments and what to set up), but safe in a host with other threads: those fork, run handlers of the
/// execution context in the child, and can hang or multiply it.
///
/// To be called from one permanent thread: the child gets a SIGTERM when that thread ends. The child leads
/// its own process group, has default signal handling and an empty signal mask, and no descriptor but 0 (null
/// device) to 5. The lifeline is the read end of a pipe whose other end only the host holds: when the host
/// dies, even by SIGKILL, the kernel sends SIGKILL to the whole group, without any help from the child.
/// Throws error(spawn_failed) naming step and cause; then no process is left.
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

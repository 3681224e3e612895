// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "process/host_state.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace skep {

/// The steps of a launch. Each step can fail.
enum class launch_step { guard, pipe, socketpair, vfork, setup, chdir, exec, pidfd_open };

std::string_view to_string(launch_step step) noexcept;

/// For tests: called before each step. A result other than 0 is the errno with which the step fails.
using launch_fault = std::function<int(launch_step)>;

/// The child's descriptors, indexed by their numbers in the child. -1 means /dev/null for 0 to 2, and closed
/// for the others.
using child_descriptors = std::array<int, 8>;

inline constexpr child_descriptors no_descriptors{-1, -1, -1, -1, -1, -1, -1, -1};

/// Returns the descriptors of a worker: 0 to 5.
constexpr child_descriptors worker_descriptors(int input, int output, int errors, int data, int control,
                                               int regions) noexcept {
    return {input, output, errors, data, control, regions, -1, -1};
}

/// The two ends of a leash; the child arms both. -1: no leash.
struct leash_ends {
    int host = -1;
    int guard = -1;
};

struct launch_spec {
    std::string executable;             ///< absolute path
    std::vector<std::string> arguments; ///< the first is the path, too: programs locate their files by it
    std::vector<std::string> environment;
    std::string directory;                ///< absolute; empty: the host's current directory
    const process_state* state = nullptr; ///< attributes of the child; null: the host's current ones
    child_descriptors descriptors = no_descriptors;
    leash_ends leash;
    bool is_guard = false; ///< survives the thread that launches it
};

class nursery;

/// The parent of a child that was not started by this process: the nursery that reaps the child, and the
/// nursery::mark() before the child's start. Null for a child of this process.
struct foster_parent {
    std::shared_ptr<nursery> home;
    std::size_t mark = 0;
};

/// A newly started child: its pid, and a pidfd that stays valid after the child's end. Unless released, kills
/// and reaps the child on destruction; a child of a nursery is reaped there.
class launched_child {
public:
    launched_child() = default;
    explicit launched_child(pid_t pid) noexcept : pid_(pid) {}
    launched_child(pid_t pid, unique_fd pidfd, foster_parent parent) noexcept
        : pid_(pid), pidfd_(std::move(pidfd)), parent_(std::move(parent)) {}
    launched_child(launched_child&& other) noexcept
        : pid_(std::exchange(other.pid_, 0)),
          pidfd_(std::move(other.pidfd_)),
          parent_(std::move(other.parent_)) {}
    launched_child& operator=(launched_child&& other) noexcept {
        std::swap(pid_, other.pid_);
        std::swap(pidfd_, other.pidfd_);
        std::swap(parent_, other.parent_);
        return *this;
    }
    ~launched_child();

    pid_t pid() const noexcept { return pid_; }
    void set_pidfd(unique_fd pidfd) noexcept { pidfd_ = std::move(pidfd); }

    int pidfd() const noexcept { return pidfd_.get(); }

    const foster_parent& parent() const noexcept { return parent_; }

    /// Passes the responsibility for the process and the ownership of its pidfd to the caller.
    void release() noexcept {
        pid_ = 0;
        pidfd_.release();
    }

private:
    pid_t pid_ = 0;
    unique_fd pidfd_;
    foster_parent parent_;
};

/// Ends a hanging launch from another thread. A launch hangs if the program is on a dead file system, or if
/// the child is stopped before its exec. Requests may be repeated.
class launch_abort {
public:
    /// Fails a launch that has not created its child; sends SIGKILL to a child that has not reached its exec.
    void request() noexcept;

    bool is_requested() const noexcept { return requested_; }

    /// Address where the kernel stores the child's pid before the child runs.
    pid_t* pid_place() noexcept {
        static_assert(sizeof child_ == sizeof(pid_t) && std::atomic<pid_t>::is_always_lock_free);
        return reinterpret_cast<pid_t*>(&child_);
    }

    /// Clears the child's pid at the end of the launch: the kernel may reuse the pid.
    void withdraw() noexcept;

private:
    std::atomic<bool> requested_ = false;
    std::atomic<pid_t> child_ = 0;
    std::mutex killing_;
};

/// Starts a process. Has the shape of Boost.Process v2's launchers, a function object called with the setup,
/// but is safe in a host with other threads. Boost's launchers fork, run handlers of the execution context in
/// the child, and can hang or multiply the host.
///
/// The child leads its own session and process group, without a controlling terminal. It has default signal
/// handling, an empty signal mask, and only the descriptors of `launch_spec`. It inherits attributes such as
/// the CPU mask from the launching thread. Throws error(spawn_failed) with step and cause; no process is left
/// behind then.
class launcher {
public:
    explicit launcher(launch_fault fault = {}) : fault_(std::move(fault)) {}

    launched_child operator()(const launch_spec& spec, launch_abort& abort) const;

    /// Throws error(spawn_failed) if a test requests that `step` fails.
    void before(launch_step step) const;

    /// Throws error(spawn_failed) for `step`, with the text of `number` (an errno).
    [[noreturn]] static void fail(launch_step step, int number, std::string_view subject = {});

private:
    launch_fault fault_;
};

} // namespace skep

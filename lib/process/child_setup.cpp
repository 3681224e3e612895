// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that runs in the child between vfork and exec. It shares the host's memory, whose other threads
// may hold any lock: only async-signal-safe calls, no allocation, nothing that must be destroyed.

#include "process/child_setup.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace skep {

namespace {

constexpr int first_spare_descriptor = 16;
constexpr int lifeline_descriptor = 5;

[[noreturn]] void give_up(const child_plan& plan, launch_step step) noexcept {
    const child_failure failure{step, errno};
    [[maybe_unused]] const auto written = ::write(plan.report, &failure, sizeof failure);
    ::_exit(127);
}

void reset_signals() noexcept {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) {
        ::sigaction(number, &standard, nullptr); // fails for SIGKILL and SIGSTOP, rightly
    }
}

/// Leads its own group (for group signals, and out of the terminal's Ctrl-C) and ends if the host's spawner
/// thread does. SIGTERM, not SIGKILL: the lifeline kills the whole group, which it can only do while the
/// leader holds it.
bool join_host(const child_plan& plan) noexcept {
    if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
        return false;
    }
    return ::getppid() == plan.parent; // it may have died before prctl took effect
}

/// Moves the descriptors to 0..5. All go up first, so that none is overwritten before it is moved; dup2 then
/// clears close-on-exec.
bool place_descriptors(const child_plan& plan) noexcept {
    std::array<int, 6> spare{};
    for (std::size_t i = 0; i < spare.size(); ++i) {
        spare[i] = plan.descriptors[i] < 0
                       ? -1
                       : ::fcntl(plan.descriptors[i], F_DUPFD_CLOEXEC, first_spare_descriptor);
        if (plan.descriptors[i] >= 0 && spare[i] < 0) {
            return false;
        }
    }
    for (std::size_t i = 0; i < spare.size(); ++i) {
        if (spare[i] >= 0 && ::dup2(spare[i], static_cast<int>(i)) < 0) {
            return false;
        }
    }
    return ::close_range(spare.size(), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

/// Asks the kernel to kill this process group when something happens on the lifeline. Nothing is ever written
/// to it, so that can only be its end: the host has died.
bool arm_lifeline(const child_plan& plan) noexcept {
    if (plan.descriptors[lifeline_descriptor] < 0) {
        return true;
    }
    return ::fcntl(lifeline_descriptor, F_SETOWN, -::getpid()) == 0 &&
           ::fcntl(lifeline_descriptor, F_SETSIG, SIGKILL) == 0 &&
           ::fcntl(lifeline_descriptor, F_SETFL, O_ASYNC) == 0;
}

[[noreturn]] void run_child(child_plan plan) noexcept {
    plan.abort->expose(::getpid());
    if (plan.abort->is_requested()) { // either this is seen, or the pid is, and gets a SIGKILL
        errno = ECANCELED;
        give_up(plan, launch_step::vfork);
    }
    reset_signals();
    const int report = ::fcntl(plan.report, F_DUPFD_CLOEXEC, first_spare_descriptor);
    if (report < 0) {
        give_up(plan, launch_step::setup);
    }
    plan.report = report;
    if (!join_host(plan) || !place_descriptors(plan) || !arm_lifeline(plan)) {
        give_up(plan, launch_step::setup);
    }
    if (plan.directory != nullptr && ::chdir(plan.directory) != 0) {
        give_up(plan, launch_step::chdir);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(plan.executable, plan.arguments, plan.environment);
    give_up(plan, launch_step::exec);
}

} // namespace

pid_t start_child(const child_plan& plan) noexcept {
    const pid_t pid = ::vfork();
    if (pid == 0) {
        run_child(plan);
    }
    return pid;
}

} // namespace skep

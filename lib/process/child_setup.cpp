// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that runs in the child until its exec. It shares the host's memory, whose other threads may hold any lock:
// only async-signal-safe calls, no allocation, nothing that must be destroyed. Sanitizers do not know its stack.

#include "process/child_setup.hpp"

#include "process/leash.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <linux/close_range.h>
#include <memory>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace skep {

namespace {

constexpr int first_spare_descriptor = 16;
constexpr std::size_t stack_size = 64u << 10;

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

/// Leads its own group, for group signals, and out of the terminal's Ctrl-C. A guard is out of reach of a worker, too,
/// which might join its group; should somebody have stopped it, it goes on when its host ends.
bool leave_hosts_group(const child_plan& plan) noexcept {
    const bool left =
        plan.is_guard ? ::setsid() >= 0 && ::prctl(PR_SET_PDEATHSIG, SIGCONT) == 0 : ::setpgid(0, 0) == 0;
    return left && ::getppid() == plan.parent; // it may have died before prctl took effect
}

bool arm(const leash_ends& leash) noexcept {
    return leash.host < 0 || (arm_leash(leash.host) && arm_leash(leash.guard));
}

/// A limit at or below the number asked for is a lack of descriptors as well, though the kernel calls it EINVAL.
int duplicate_out_of_the_way(int given) noexcept {
    const int copy = ::fcntl(given, F_DUPFD_CLOEXEC, first_spare_descriptor);
    if (copy < 0 && errno == EINVAL) {
        errno = EMFILE;
    }
    return copy;
}

/// Moves the descriptors to 0, 1, 2 ... All go up first, so that none is overwritten before it is moved; dup2 then
/// clears close-on-exec.
bool place_descriptors(const child_descriptors& given) noexcept {
    child_descriptors spare{};
    for (std::size_t i = 0; i < spare.size(); ++i) {
        spare[i] = given[i] < 0 ? -1 : duplicate_out_of_the_way(given[i]);
        if (given[i] >= 0 && spare[i] < 0) {
            return false;
        }
    }
    for (std::size_t i = 0; i < spare.size(); ++i) {
        const auto number = static_cast<int>(i);
        const int result = spare[i] < 0 ? ::close_range(i, i, CLOSE_RANGE_CLOEXEC) : ::dup2(spare[i], number);
        if (result < 0) {
            return false;
        }
    }
    return ::close_range(spare.size(), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

int run_child(void* argument) noexcept {
    auto plan = *static_cast<const child_plan*>(argument);
    if (plan.abort->is_requested()) { // either this is seen, or the pid is, and gets a SIGKILL
        errno = ECANCELED;
        give_up(plan, launch_step::vfork);
    }
    reset_signals();
    const int report = duplicate_out_of_the_way(plan.report);
    if (report < 0) {
        give_up(plan, launch_step::setup);
    }
    plan.report = report;
    if (!leave_hosts_group(plan) || !arm(plan.leash) || !place_descriptors(plan.descriptors)) {
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

// As vfork, but the kernel stores the pid before the child runs: whoever stops the child then can be answered.
constexpr int like_vfork =
    CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD; // lint: allow process because it is a flag

// ThreadSanitizer cannot follow two processes in one memory.
#if defined(__SANITIZE_THREAD__)
constexpr int memory = 0;
#elif defined(__has_feature)
constexpr int memory = __has_feature(thread_sanitizer) ? 0 : CLONE_VM;
#else
constexpr int memory = CLONE_VM;
#endif

} // namespace

pid_t start_child(const child_plan& plan) {
    const auto stack = std::make_unique<std::max_align_t[]>(stack_size / sizeof(std::max_align_t));
    auto* const top = stack.get() + stack_size / sizeof(std::max_align_t);
    return ::clone(run_child, top, like_vfork | memory, const_cast<child_plan*>(&plan),
                   plan.abort->pid_place());
}

} // namespace skep

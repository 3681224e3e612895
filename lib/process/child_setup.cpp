// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Code that runs in the child until its exec. The child shares the host's memory, and the host's other
// threads may hold any lock: only async-signal-safe calls, no allocation, no object with a destructor.
// Sanitizers do not know the child's stack.

#include "process/child_setup.hpp"

#include "process/leash.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <memory>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skep {

namespace {

constexpr int first_spare_descriptor = 16;
constexpr std::size_t stack_size = 64u << 10;

[[noreturn]] void fail(const child_plan& plan, launch_step step) noexcept {
    const child_failure failure{step, errno};
    [[maybe_unused]] const auto written = ::write(plan.report, &failure, sizeof failure);
    ::_exit(127);
}

void reset_signals() noexcept {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) {
        ::sigaction(number, &standard, nullptr); // fails for SIGKILL and SIGSTOP, as intended
    }
}

/// Makes the child the leader of its own session and group: for group signals, and out of reach of the
/// terminal, whose Ctrl-C would end the child, and which stops background processes that read from it. A
/// process cannot join a group of another session. A stopped guard continues when its host ends.
bool leave_hosts_session(const child_plan& plan) noexcept {
    const bool left = ::setsid() >= 0 && (!plan.is_guard || ::prctl(PR_SET_PDEATHSIG, SIGCONT) == 0);
    return left && ::getppid() == plan.parent; // the parent may have died before prctl took effect
}

bool arm(const leash_ends& leash) noexcept {
    return leash.host < 0 || (arm_leash(leash.host) && arm_leash(leash.guard));
}

/// A limit at or below the requested number is also a lack of descriptors, but the kernel reports EINVAL.
int duplicate_out_of_the_way(int fd) noexcept {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, first_spare_descriptor);
    if (copy < 0 && errno == EINVAL) {
        errno = EMFILE;
    }
    return copy;
}

/// Moves the descriptors to 0, 1, 2 ... First moves all of them up, so that each is moved before its number
/// is overwritten. dup2 then clears close-on-exec.
bool place_descriptors(const child_descriptors& descriptors) noexcept {
    child_descriptors spare{};
    for (std::size_t i = 0; i < spare.size(); ++i) {
        spare[i] = descriptors[i] < 0 ? -1 : duplicate_out_of_the_way(descriptors[i]);
        if (descriptors[i] >= 0 && spare[i] < 0) {
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

/// Skips chdir if this is already the current directory: the permission to enter it again may be missing. The
/// C library's getcwd may allocate, hence the system call.
bool enter(const char* directory) noexcept {
    std::array<char, PATH_MAX> here;
    const bool is_known = ::syscall(SYS_getcwd, here.data(), here.size()) > 0;
    return (is_known && std::strcmp(here.data(), directory) == 0) || ::chdir(directory) == 0;
}

/// Keeps limits that must not be raised. Makes only system calls that change a setting: a system call filter
/// may end the process for any other.
void assume(const process_state& state) noexcept {
    if (state.umask) {
        ::umask(*state.umask);
    }
    for (std::size_t i = 0; i < state.limits.size(); ++i) {
        const auto resource = static_cast<decltype(RLIMIT_CPU)>(i);
        const auto& wanted = state.limits[i];
        rlimit now{};
        if (wanted && ::getrlimit(resource, &now) == 0 &&
            (now.rlim_cur != wanted->rlim_cur || now.rlim_max != wanted->rlim_max)) {
            ::setrlimit(resource, &*wanted);
        }
    }
}

int run_child(void* argument) noexcept {
    auto plan = *static_cast<const child_plan*>(argument);
    if (plan.abort->is_requested()) { // either this sees the request, or the request kills the child
        errno = ECANCELED;
        fail(plan, launch_step::vfork);
    }
    reset_signals();
    const int report = duplicate_out_of_the_way(plan.report);
    if (report < 0) {
        fail(plan, launch_step::setup);
    }
    plan.report = report;
    if (!leave_hosts_session(plan) || !arm(plan.leash) || !place_descriptors(plan.descriptors)) {
        fail(plan, launch_step::setup);
    }
    if (plan.directory != nullptr && !enter(plan.directory)) {
        fail(plan, launch_step::chdir);
    }
    if (plan.state != nullptr) {
        assume(*plan.state);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(plan.executable, plan.arguments, plan.environment);
    fail(plan, launch_step::exec);
}

// Like vfork, but the kernel stores the pid before the child runs, so that a child stopped at this point can
// be killed.
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

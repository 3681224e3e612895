// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/launcher.hpp"

#include "process/child_setup.hpp"
#include "process/descriptors.hpp"
#include "process/reaping.hpp"
#include <skep/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>

namespace skep {

namespace {

/// Blocks all signals for this thread, so that the child handles none before it has reset the handlers.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (const auto& text : strings) {
        result.push_back(const_cast<char*>(text.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

std::string_view remedy(launch_step step, int number) noexcept {
    if (step == launch_step::chdir && number == ENOENT) {
        return "; the working directory of the workers was deleted or moved, or never existed: check "
               "launch.working_directory";
    }
    switch (number) {
    case EMFILE:
        return "; the host is out of file descriptors: raise 'ulimit -n' (about 6 per worker, and 14 while "
               "one starts)";
    case ENFILE: return "; the machine is out of file descriptors";
    case EAGAIN: return "; the limit of processes is reached: raise 'ulimit -u' or the container's pids.max";
    case ENOMEM: return "; the machine is out of memory";
    case ENOENT: return "; does the file, and the interpreter in its first line, exist?";
    case EACCES: return "; is the file executable, and its folder accessible?";
    case ENOEXEC: return "; it is not a program for this machine and has no '#!' line";
    case EFBIG:
        return "; the host may have no file of a few bytes: raise 'ulimit -f', or LimitFSIZE of its unit";
    case E2BIG: return "; arguments and environment are too long";
    default: return {};
    }
}

/// Returns the child's report of a failure; error 0 if the child has reached its exec.
child_failure read_failure(int report) {
    child_failure failure;
    if (::read(report, &failure, sizeof failure) != static_cast<ssize_t>(sizeof failure)) {
        failure.error = 0;
    }
    return failure;
}

} // namespace

launched_child::~launched_child() {
    if (pid_ <= 0) {
        return;
    }
    if (pidfd_.get() < 0) {
        pidfd_.reset(pidfd_open(pid_)); // an unreaped child: the pid is still its own
    }
    if (pidfd_.get() >= 0) {
        pidfd_send_signal(pidfd_.get(), SIGKILL);
        collect_killed(std::move(pidfd_));
        return;
    }
    ::kill(pid_, SIGKILL); // no descriptor is available
    siginfo_t info{};
    int result = 0;
    do {
        result = ::waitid(P_PID, pid_, &info, WEXITED); // lint: allow process because it may have no pidfd
    } while (result != 0 && errno == EINTR);
}

void launch_abort::request() noexcept {
    requested_ = true;
    const std::lock_guard lock(killing_);
    if (const pid_t child = child_; child > 0) {
        ::kill(child, SIGKILL); // lint: allow process because it is not reaped before withdraw()
    }
}

void launch_abort::withdraw() noexcept {
    const std::lock_guard lock(killing_);
    child_ = 0;
}

std::string_view to_string(launch_step step) noexcept {
    static constexpr std::array<std::string_view, 8> names{"guard", "pipe",  "socketpair", "vfork",
                                                           "setup", "chdir", "exec",       "pidfd_open"};
    return names.at(static_cast<std::size_t>(step));
}

void launcher::before(launch_step step) const {
    if (const int number = fault_ ? fault_(step) : 0; number != 0) {
        fail(step, number);
    }
}

void launcher::fail(launch_step step, int number, std::string_view subject) {
    error_info info;
    info.detail = std::string(to_string(step));
    if (!subject.empty()) {
        info.detail.append(" of '").append(subject).append("'");
    }
    info.detail.append(" failed: ").append(std::strerror(number)).append(remedy(step, number));
    throw error(errc::spawn_failed, std::move(info));
}

namespace {

std::string_view subject_of(launch_step step, const launch_spec& spec) noexcept {
    switch (step) {
    case launch_step::chdir: return spec.directory;
    case launch_step::exec: return spec.executable;
    default: return {};
    }
}

launched_child create(const child_plan& plan) {
    const signals_blocked guard;
    const pid_t pid = start_child(plan);
    if (pid < 0) {
        launcher::fail(launch_step::vfork, errno);
    }
    return launched_child(pid);
}

/// Starts the child, and returns after its exec. Throws if the child fails before; no process is left behind
/// then.
launched_child start(const child_plan& plan, const launch_spec& spec, int report, unique_fd report_there) {
    struct exposure {
        ~exposure() { abort.withdraw(); }
        launch_abort& abort;
    };
    launched_child child;
    {
        const exposure during_launch{*plan.abort}; // ends before the child is reaped
        child = create(plan);
        report_there.reset();
        const auto failure = read_failure(report);
        if (failure.error != 0) {
            launcher::fail(failure.step, failure.error, subject_of(failure.step, spec));
        }
    }
    if (plan.abort->is_requested()) { // the child was killed, perhaps before its report
        launcher::fail(launch_step::exec, ECANCELED, spec.executable);
    }
    return child;
}

} // namespace

launched_child launcher::operator()(const launch_spec& spec, launch_abort& abort) const {
    // Everything that allocates comes before vfork.
    const auto arguments = pointers_to(spec.arguments);
    const auto environment = pointers_to(spec.environment);
    before(launch_step::pipe);
    std::array<int, 2> report{};
    if (::pipe2(report.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        fail(launch_step::pipe, errno);
    }
    unique_fd report_here(report[0]);
    unique_fd report_there(report[1]);
    unique_fd null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null_device.get() < 0) {
        fail(launch_step::setup, errno, "/dev/null");
    }
    auto descriptors = spec.descriptors;
    std::replace(descriptors.begin(), descriptors.begin() + 3, -1, null_device.get());
    const child_plan plan{spec.executable.c_str(),
                          arguments.data(),
                          environment.data(),
                          spec.directory.empty() ? nullptr : spec.directory.c_str(),
                          spec.state,
                          descriptors,
                          spec.leash,
                          spec.is_guard,
                          report_there.get(),
                          ::getpid(),
                          &abort};
    before(launch_step::vfork);
    launched_child child = start(plan, spec, report_here.get(), std::move(report_there));
    before(launch_step::pidfd_open);
    unique_fd pidfd(pidfd_open(child.pid()));
    if (pidfd.get() < 0) {
        fail(launch_step::pidfd_open, errno);
    }
    child.set_pidfd(std::move(pidfd));
    return child;
}

} // namespace skep

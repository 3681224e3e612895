// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/reaping.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <thread>

namespace skep {

namespace {

constexpr std::chrono::milliseconds before_next_wait(10);
constexpr std::chrono::milliseconds before_group_look(2);

/// Calls waitid on a pidfd, which always names the same process, unlike a pid. `info` is empty if the process
/// has not ended.
int wait_on(int pidfd, siginfo_t& info, int options) noexcept {
    info = {};
    int result = 0;
    do {
        result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | options);
    } while (result != 0 && errno == EINTR);
    return result;
}

/// A pidfd may become readable before the status can be collected, as long as a tracer is attached.
bool ends_before(int pidfd, std::chrono::steady_clock::time_point deadline) noexcept {
    while (!has_ended(pidfd)) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) {
            return false;
        }
        pollfd end{pidfd, POLLIN, 0};
        if (::poll(&end, 1,
                   static_cast<int>(std::min<std::chrono::milliseconds::rep>(left.count(), 60'000))) > 0) {
            std::this_thread::sleep_for(has_ended(pidfd) ? std::chrono::milliseconds(0) : before_next_wait);
        }
    }
    return true;
}

} // namespace

bool has_ended(int pidfd) noexcept {
    siginfo_t info;
    if (wait_on(pidfd, info, WNOWAIT) == 0) {
        return info.si_pid != 0;
    }
    pollfd end{pidfd, POLLIN, 0}; // collected elsewhere: implies an end, but is not one
    return ::poll(&end, 1, 0) != 0;
}

bool ends_within(int pidfd, std::chrono::milliseconds patience) noexcept {
    return ends_before(pidfd, std::chrono::steady_clock::now() + patience);
}

exit_status status_of(int code, int status) noexcept {
    switch (code) {
    case CLD_EXITED: return exit_status::exited(status);
    case CLD_KILLED:
    case CLD_DUMPED: return exit_status::signalled(status);
    default: return exit_status::taken();
    }
}

exit_status collect(int pidfd) noexcept {
    siginfo_t info;
    return wait_on(pidfd, info, 0) == 0 ? status_of(info.si_code, info.si_status) : exit_status::taken();
}

bool collect_killed(unique_fd pidfd, std::chrono::milliseconds patience,
                    std::shared_ptr<const void> token) noexcept {
    if (ends_within(pidfd.get(), patience)) {
        collect(pidfd.get());
        return true;
    }
    try {
        std::thread([token = std::move(token), held = std::move(pidfd)]() mutable {
            ends_before(held.get(), std::chrono::steady_clock::time_point::max());
            collect(held.get());
            held.reset();
        }).detach();
    } catch (...) { // no thread is available: the process stays a zombie
    }
    return false;
}

bool is_empty_group(pid_t group) noexcept {
    return ::kill(-group, 0) != 0 && errno == ESRCH; // lint: allow process because it is no signal
}

void await_empty_group(pid_t group, std::chrono::steady_clock::time_point deadline) noexcept {
    while (!is_empty_group(group) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(before_group_look);
    }
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/child.hpp"

#include "process/pidfd.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>

namespace skep {

namespace {

exit_status to_status(const siginfo_t& info) noexcept {
    switch (info.si_code) {
    case CLD_EXITED: return exit_status::exited(info.si_status);
    case CLD_KILLED:
    case CLD_DUMPED: return exit_status::signalled(info.si_status);
    default: return {};
    }
}

/// waitid on a pidfd, which unlike a pid cannot name another process. Empty status: not ended, or reaped by
/// others.
int wait_on(int pidfd, siginfo_t& info, int options) noexcept {
    info = {};
    int result = 0;
    do {
        result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | options);
    } while (result != 0 && errno == EINTR);
    return result;
}

} // namespace

child::child(const strand& executor, launched_child launched, unique_fd lifeline)
    : pid_(launched.pid()), pidfd_(executor), lifeline_(std::move(lifeline)) {
    pidfd_.assign(launched.pidfd()); // may throw; the process is the launcher's until it has not
    launched.release();
}

child::~child() {
    end_now();
}

void child::end_now() noexcept {
    if (!reaped_ && !abandoned_) {
        signal_group(SIGKILL);
        while (!has_ended()) { // waitid does not block on a descriptor that the reactor has set non-blocking
            pollfd end{pidfd_.native_handle(), POLLIN, 0};
            ::poll(&end, 1, -1);
        }
        reap();
    }
    boost::system::error_code ec;
    pidfd_.close(ec);
    lifeline_.reset();
}

asio::awaitable<void> child::ended() {
    // A pidfd may become readable without cause, so each time it is asked, without blocking.
    while (!abandoned_ && !has_ended()) {
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await pidfd_.async_wait(descriptor::wait_read, std::move(token));
    }
}

bool child::has_ended() const noexcept {
    siginfo_t info;
    // An error means that somebody else has reaped it (a host that ignores SIGCHLD): gone, status unknown.
    return wait_on(const_cast<descriptor&>(pidfd_).native_handle(), info, WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

void child::signal_group(int number) noexcept {
    if (!reaped_ && pidfd_send_signal(pidfd_.native_handle(), 0) == 0) {
        ::kill(-pid_, number);
    }
}

void child::signal(int number) noexcept {
    if (!reaped_) {
        pidfd_send_signal(pidfd_.native_handle(), number);
    }
}

exit_status child::reap() noexcept {
    signal_group(SIGKILL);
    siginfo_t info;
    reaped_ = true;
    return wait_on(pidfd_.native_handle(), info, WNOHANG) == 0 ? to_status(info) : exit_status();
}

void child::abandon() noexcept {
    abandoned_ = true;
    boost::system::error_code ec;
    pidfd_.cancel(ec);
}

} // namespace skep

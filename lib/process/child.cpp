// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/child.hpp"

#include "process/pidfd.hpp"
#include "process/reaping.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <unistd.h>

namespace skep {

namespace {

constexpr duration before_next_look = std::chrono::milliseconds(20);

} // namespace

child::child(const strand& executor, launched_child launched, leash group)
    : pid_(launched.pid()), host_(::getpid()), pidfd_(executor), pause_(executor), group_(std::move(group)) {
    pidfd_.assign(launched.pidfd()); // may throw; the process is the launcher's until it has not
    launched.release();
}

child::~child() {
    end_now();
}

void child::end_now() noexcept {
    if (!pidfd_.is_open()) {
        return;
    }
    pause_.cancel();
    if (!reaped_ && is_ours()) {
        kill();
        reaped_ = true;
        const auto patience = abandoned_ ? std::chrono::seconds(0) : to_die; // it has had its time
        collect_killed(unique_fd(pidfd_.release()), patience);
    }
    boost::system::error_code ec;
    pidfd_.close(ec);
    group_ = {};
}

asio::awaitable<void> child::ended() {
    boost::system::error_code ec;
    while (!abandoned_ && !has_ended()) {
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await pidfd_.async_wait(descriptor::wait_read, std::move(token));
        if (!ec && !abandoned_ && !has_ended()) { // for as long as somebody traces it
            pause_.expires_after(before_next_look);
            auto pause_token = asio::redirect_error(asio::use_awaitable, ec);
            co_await pause_.async_wait(std::move(pause_token));
        }
    }
}

bool child::is_ours() const noexcept {
    return ::getpid() == host_;
}

bool child::has_ended() noexcept {
    return skep::has_ended(pidfd_.native_handle());
}

void child::terminate() noexcept {
    if (reaped_ || !is_ours() || pidfd_send_signal(pidfd_.native_handle(), 0) != 0) {
        return;
    }
    const bool has_left = ::getpgid(pid_) != pid_;
    for (const int number : {SIGTERM, SIGCONT}) {
        ::kill(-pid_, number);
        if (has_left) { // else it would get two
            signal(number);
        }
    }
}

void child::kill() noexcept {
    if (is_ours()) {
        group_.pull();
        signal(SIGKILL);
    }
}

void child::signal(int number) noexcept {
    if (!reaped_) {
        pidfd_send_signal(pidfd_.native_handle(), number);
    }
}

exit_status child::reap() noexcept {
    kill();
    reaped_ = true;
    return collect(pidfd_.native_handle());
}

void child::abandon() noexcept {
    abandoned_ = true;
    boost::system::error_code ec;
    pidfd_.cancel(ec);
    pause_.cancel();
}

} // namespace skep

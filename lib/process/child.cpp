// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/child.hpp"

#include "core/clock.hpp"
#include "process/descriptors.hpp"
#include "process/guard_protocol.hpp"
#include "process/reaping.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <unistd.h>

namespace skep {

namespace {

constexpr duration before_next_look = std::chrono::milliseconds(20);
constexpr duration before_first_look = std::chrono::milliseconds(1);
constexpr std::chrono::milliseconds for_group(moment_for_group);

/// Longest wait for the status of a process that a nursery collects.
constexpr duration for_report = std::chrono::seconds(1);

} // namespace

child::child(const strand& executor, launched_child new_child, leash group)
    : pid_(new_child.pid()),
      host_(::getpid()),
      pidfd_(executor),
      pause_(executor),
      group_(std::move(group)),
      parent_(new_child.parent()) {
    pidfd_.assign(new_child.pidfd()); // may throw; until then the launcher owns the process
    new_child.release();
}

child::~child() {
    end_now();
}

void child::end_now() noexcept {
    if (!pidfd_.is_open()) {
        return;
    }
    pause_.cancel();
    if (is_ours()) {
        kill();
        if (!reaped_ && !collect_now()) {
            abandoned_ = true;
        }
        if (awaits_group()) {
            await_empty_group(pid_, *killed_ + for_group);
        }
    }
    group_ended_ = true;
    boost::system::error_code ec;
    pidfd_.close(ec);
    group_ = {};
    parent_ = {};
}

/// Returns false if the process has not ended in time.
bool child::collect_now() noexcept {
    const bool was_over = has_ended();
    const auto patience = abandoned_ ? std::chrono::seconds(0) : to_die; // abandoned: its time is over
    reaped_ = true;
    const bool is_collected = collect_killed(unique_fd(pidfd_.release()), patience);
    if (!was_over) {
        killed_ = clock::now(); // the group's time starts at the end of the leader
    }
    return is_collected;
}

asio::awaitable<void> child::ended() {
    boost::system::error_code ec;
    auto pause = before_first_look;
    while (!abandoned_ && !has_ended()) {
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await pidfd_.async_wait(descriptor::wait_read, std::move(token));
        if (!ec && !abandoned_ && !has_ended()) { // not collectable while a tracer is attached
            pause_.expires_after(pause);
            pause = std::min(2 * pause, before_next_look);
            auto pause_token = asio::redirect_error(asio::use_awaitable, ec);
            co_await pause_.async_wait(std::move(pause_token));
        }
    }
}

bool child::is_ours() const noexcept {
    return ::getpid() == host_;
}

bool child::has_ended() noexcept {
    return skep::has_ended(pidfd_.native_handle()) && (parent_.home == nullptr || is_reported());
}

/// Returns true once the nursery has reported the status, or if there is no hope for a report.
bool child::is_reported() noexcept {
    const auto now = clock::now();
    end_seen_ = end_seen_.value_or(now);
    const bool is_late = now >= *end_seen_ + for_report || parent_.home->is_over();
    if (!status_) {
        status_ = parent_.home->take_status(pid_, parent_.mark);
    }
    return status_.has_value() || is_late;
}

void child::terminate() noexcept {
    if (reaped_ || !is_ours() || pidfd_send_signal(pidfd_.native_handle(), 0) != 0) {
        return;
    }
    const bool has_left = ::getpgid(pid_) != pid_;
    for (const int number : {SIGTERM, SIGCONT}) {
        ::kill(-pid_, number);
        if (has_left) { // otherwise the process would receive the signal twice
            signal(number);
        }
    }
}

void child::kill() noexcept {
    if (is_ours()) {
        killed_ = killed_.value_or(clock::now());
        signal(SIGKILL);
    }
}

void child::signal(int number) noexcept {
    if (!reaped_) {
        pidfd_send_signal(pidfd_.native_handle(), number);
    }
}

exit_status child::reap() noexcept {
    reaped_ = true;
    if (parent_.home == nullptr) {
        return collect(pidfd_.native_handle());
    }
    parent_ = {};
    return status_.value_or(exit_status::unreported());
}

bool child::awaits_group() const noexcept {
    return !group_ended_ && !abandoned_ && !is_empty_group(pid_);
}

asio::awaitable<void> child::end_group() {
    const auto deadline = clock::now() + for_group;
    for (auto pause = before_first_look; awaits_group() && clock::now() < deadline;
         pause = std::min(2 * pause, before_next_look)) {
        boost::system::error_code ec;
        pause_.expires_at(std::min(clock::now() + pause, deadline));
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await pause_.async_wait(std::move(token));
    }
    group_ended_ = true;
    group_.pull();
}

bool child::holds(pid_t pid) noexcept {
    const bool is_whole =
        !reaped_ && pidfd_send_signal(pidfd_.native_handle(), 0) == 0; // else the number may be reused
    return is_whole && (pid == pid_ || ::getpgid(pid) == pid_ || ::getsid(pid) == pid_);
}

void child::abandon() noexcept {
    abandoned_ = true;
    group_.pull();
    boost::system::error_code ec;
    pidfd_.cancel(ec);
    pause_.cancel();
}

} // namespace skep

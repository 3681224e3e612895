// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/nursery.hpp"

#include "process/reaping.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <new>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace skep {

namespace {

constexpr std::chrono::milliseconds between_looks_at_ends(1);

} // namespace

void nursery_ends::wait() const noexcept {
    const auto deadline = std::chrono::steady_clock::now() + to_end_nursery;
    while (!empty() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(between_looks_at_ends);
    }
}

nursery::nursery(const launcher& launch, guard& process_guard, const std::string& program, launch_spec spec,
                 launch_abort& abort)
    : host_(::getpid()), leash_(process_guard.tie(abort)) {
    auto ends = make_packet_pair(launch);
    spec.descriptors[nursery_line] = ends.there.get();
    spec.descriptors[nursery_leash_begin] = leash_.host_end();
    spec.descriptors[nursery_leash_begin + 1] = leash_.guard_end();
    spec.arguments.insert(spec.arguments.begin(), {"skep-guard", nursery_role});
    spec.executable = program;
    spec.is_guard = true;
    auto process = launch(spec, abort);
    line_ = std::move(ends.here);
    leash_.disarm();
    pid_ = process.pid();
    process_ = unique_fd(process.pidfd());
    process.release();
}

nursery::~nursery() {
    if (process_.get() >= 0 && ::getpid() == host_) {
        give_up();
        collect_killed(std::move(process_), std::chrono::milliseconds(0), ends_ ? ends_->token() : nullptr);
    }
}

void nursery::end(std::chrono::milliseconds patience) noexcept {
    if (process_.get() >= 0 && ::getpid() == host_) {
        give_up();
        if (!ends_within(process_.get(), patience)) {
            pidfd_send_signal(process_.get(), SIGKILL);
        }
        collect_killed(std::move(process_));
    }
}

/// Ends the stream also for forked copies of the host.
void nursery::give_up() noexcept {
    ::shutdown(line_.get(), SHUT_RDWR);
}

void nursery::kill_template() noexcept {
    if (::getpid() == host_) {
        ::send(line_.get(), &end_template_message, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

pid_t nursery::template_pid() noexcept {
    const std::lock_guard lock(mutex_);
    read_reports();
    return template_;
}

int nursery::start_problem() noexcept {
    const std::lock_guard lock(mutex_);
    read_reports();
    return start_problem_;
}

bool nursery::is_over() noexcept {
    const std::lock_guard lock(mutex_);
    read_reports();
    return over_;
}

std::size_t nursery::mark() noexcept {
    const std::lock_guard lock(mutex_);
    read_reports();
    return statuses_;
}

std::optional<exit_status> nursery::take_status(pid_t child, std::size_t mark) noexcept {
    const std::lock_guard lock(mutex_);
    read_reports();
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const kept_status& each) {
        return each.pid == child && each.number >= mark;
    });
    if (found == kept_.end()) {
        return std::nullopt;
    }
    const auto status = found->status;
    kept_.erase(found);
    return status;
}

/// Reads all that the nursery has sent. Preconditions: the mutex is locked.
void nursery::read_reports() noexcept {
    nursery_report report{};
    for (ssize_t count = 1; count > 0;) {
        count = ::recv(line_.get(), &report, sizeof report, MSG_DONTWAIT);
        over_ = over_ || count == 0;
        if (count == sizeof report) {
            keep(report);
        }
    }
}

/// Orphans of workers are reported as well, so the number of statuses has a limit.
void nursery::keep(const nursery_report& report) {
    if (report.code == 0) {
        template_ = report.pid;
        start_problem_ = report.status;
        return;
    }
    try {
        kept_.push_back({report.pid, statuses_++, status_of(report.code, report.status)});
    } catch (const std::bad_alloc&) { // the status is unknown
    }
    if (kept_.size() > most_kept_reports) {
        kept_.pop_front();
    }
}

} // namespace skep

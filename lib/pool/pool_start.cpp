// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How a pool starts: the launch, who waits for it, and what is done when too few workers come up.

#include "core/clock.hpp"
#include "pool/pool_core.hpp"

#include <algorithm>
#include <iterator>

namespace skep {

void pool_core::start(start_waiter caller) {
    if (phase_ != pool_phase::created) {
        const bool ending = phase_ == pool_phase::stopping || phase_ == pool_phase::stopped;
        caller->complete(failure(ending ? errc::shutting_down : errc::already_started), {});
        return;
    }
    phase_ = pool_phase::starting;
    start_callers_.push_back(std::move(caller));
    start_ended_.close();
    phases_.spawn(shared_from_this(), run_start());
}

asio::awaitable<void> pool_core::run_start() {
    supervisor_.reopen();
    autoscaler_.reopen();
    start_loop([this] { return dispatcher_.watch_deadlines(); });
    co_await launch_until_ready();
    if (phase_ != pool_phase::starting) {
        complete_start(failure(errc::shutting_down));
    } else if (supervisor_.ready() < config_.min_ready) {
        co_await undo_start();
    } else {
        phase_ = pool_phase::running;
        start_loop([this] { return supervisor_.reconcile(shared_from_this()); });
        start_loop([this] { return autoscaler_.run(); });
        complete_start({});
    }
}

/// Batch after batch, until enough workers are up or the first attempt of every slot has ended. The rest of a launch
/// is up to reconcile().
asio::awaitable<void> pool_core::launch_until_ready() {
    supervisor_.begin_launch();
    while (phase_ == pool_phase::starting && supervisor_.ready() < config_.min_ready) {
        supervisor_.changed().close(); // before looking: a start may fail at once
        if (supervisor_.ready() == 0 && supervisor_.last_failure_code() == errc::spawn_failed) {
            supervisor_.end_launch(); // the others would fail as well
        }
        const auto next_batch = supervisor_.launch_due(clock::now(), shared_from_this());
        if (!supervisor_.is_launching() && supervisor_.starting() == 0) {
            break;
        }
        co_await supervisor_.changed().wait_until(next_batch);
    }
}

/// Too few workers came up: everything is stopped again, and what waited for a worker fails.
asio::awaitable<void> pool_core::undo_start() {
    const auto came_up = supervisor_.ready();
    undone_for_ = start_failure(came_up);
    dispatcher_.abort_running(errc::start_failed, undone_for_->info);
    dispatcher_.fail_queue(errc::start_failed, undone_for_->info);
    co_await take_down(stop_stage::ask);
    const auto problem = start_failure(came_up); // only now is known how all of them ended
    undone_for_.reset();
    fail_ready(problem);
    if (phase_ == pool_phase::starting) {
        phase_ = pool_phase::created;
    }
    complete_start(problem);
}

void pool_core::complete_start(const std::optional<error>& problem) {
    start_ended_.open();
    complete_all(start_callers_, problem, {});
}

void pool_core::ready(std::size_t count, start_waiter caller) {
    switch (phase_) {
    case pool_phase::starting:
    case pool_phase::running: break;
    case pool_phase::created: caller->complete(failure(errc::not_started), {}); return;
    default: caller->complete(failure(errc::shutting_down), {}); return;
    }
    ready_callers_.emplace_back(count, std::move(caller));
    tell_ready();
    if (phase_ == pool_phase::running && supervisor_.is_unavailable()) {
        fail_ready(unavailable());
    }
}

void pool_core::tell_ready() {
    const auto first = std::partition(ready_callers_.begin(), ready_callers_.end(),
                                      [this](const auto& each) { return each.first > supervisor_.ready(); });
    const decltype(ready_callers_) content(std::make_move_iterator(first),
                                           std::make_move_iterator(ready_callers_.end()));
    ready_callers_.erase(first, ready_callers_.end());
    for (const auto& each : content) {
        each.second->complete({}, {});
    }
}

void pool_core::fail_ready(const error& why) {
    for (const auto& each : std::exchange(ready_callers_, {})) {
        each.second->complete(why, {});
    }
}

error pool_core::start_failure(std::size_t came_up) const {
    auto info = last_cause();
    info.detail = std::to_string(came_up) + " of " + std::to_string(supervisor_.desired()) +
                  " workers came up, " + std::to_string(config_.min_ready) + " needed; " + info.detail;
    return failure(errc::start_failed, std::move(info));
}

} // namespace skep

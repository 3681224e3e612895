// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How a pool starts: the launch, who waits for it, and what is done when too few workers come up.

#include "async/pause.hpp"
#include "core/counted.hpp"
#include "core/duration_text.hpp"
#include "policy/backoff.hpp"
#include "pool/pool_core.hpp"

#include <cstddef>

namespace skep {

namespace {

// For resuming the callers of a pool that has failed: about 300 of them, before they give back what they hold.
constexpr std::size_t spare_bytes = 64u << 10;

} // namespace

asio::awaitable<void> pool_core::start() {
    if (phase_ != pool_phase::created && phase_ != pool_phase::failed) {
        const bool ending = phase_ == pool_phase::stopping || phase_ == pool_phase::stopped;
        throw failure(ending ? errc::shutting_down : errc::already_started);
    }
    const auto mine = std::make_shared<start_attempt>();
    begin_start(mine);
    while (!mine->is_over) {
        co_await changed_.wait();
    }
    if (mine->problem) {
        throw *mine->problem;
    }
}

void pool_core::begin_start(std::shared_ptr<start_attempt> mine) {
    phase_ = pool_phase::starting;
    started_in_ = process_generation();
    start_ = std::move(mine);
    spare_ = std::make_unique<std::byte[]>(spare_bytes);
    run_in(phases_, run_start());
}

asio::awaitable<void> pool_core::run_start() {
    start_->began = context_.now();
    was_available_ = true;
    context_.tell<events::pool_init_started>([&] {
        return events::pool_init_started{config_.name, roster_.desired()};
    });
    if (broken_) { // what is left of it
        co_await take_down(stop_stage::kill);
        broken_.reset();
        boundary_.mend();
    }
    co_await bring_up();
}

asio::awaitable<void> pool_core::bring_up() {
    around_.owner = shared_from_this();
    supervisor_.reset();
    suspension_.reset();
    run_in(demand_, watch_deadlines());
    run_in(demand_, dispatcher_.sessions().expire());
    const bool is_prepared = co_await prepare();
    if (is_prepared) {
        co_await launch_until_ready();
    }
    if (phase_ != pool_phase::starting) {
        complete_start(failure(errc::shutting_down));
    } else if (roster_.ready() < config_.min_ready) {
        co_await undo_start();
    } else {
        phase_ = pool_phase::running;
        run_in(supply_, supervisor_.supervise());
        run_in(supply_, autoscaler_.run());
        complete_start({});
    }
}

/// What the user has to do before there are workers. False if that has failed.
asio::awaitable<bool> pool_core::prepare() {
    const auto complaint = co_await hooks_.before_first_worker();
    if (!complaint.empty()) {
        error_info info;
        info.detail = complaint;
        supervisor_.note_failure(error(errc::initialization_failed, std::move(info)));
    }
    co_return complaint.empty();
}

/// Batch after batch, until enough workers are up or the first attempt of every slot has ended. The rest of a launch
/// is up to the supervisor.
asio::awaitable<void> pool_core::launch_until_ready() {
    supervisor_.begin_launch();
    while (phase_ == pool_phase::starting && roster_.ready() < config_.min_ready) {
        supervisor_.progress().close(); // before looking: a start may fail at once
        if (roster_.ready() == 0 && supervisor_.last_failure_code() == errc::spawn_failed) {
            supervisor_.end_launch(); // the others would fail as well
        }
        const auto next_batch = supervisor_.launch_due(context_.now());
        if (!supervisor_.is_launching() && roster_.starting() == 0) {
            break;
        }
        co_await supervisor_.progress().wait_until(next_batch);
    }
}

/// Too few workers came up: everything is stopped again, and what waited for a worker fails.
asio::awaitable<void> pool_core::undo_start() {
    const auto came_up = roster_.ready();
    supervisor_.note_failure_under_way();
    const auto& cause = start_->undone_for.emplace(start_failure(came_up)).info();
    dispatcher_.abort_running(errc::start_failed, cause);
    fail_queue(errc::start_failed, cause);
    co_await take_down(stop_stage::ask);
    auto problem = start_failure(came_up); // only now is known how all of them ended
    start_->undone_for.reset();
    if (phase_ == pool_phase::starting) {
        phase_ = pool_phase::created;
        started_in_ = 0;
    }
    complete_start(std::move(problem));
}

void pool_core::complete_start(std::optional<error> problem) {
    context_.tell<events::pool_init_completed>([&] {
        return events::pool_init_completed{config_.name, context_.now() - start_->began, roster_.ready(),
                                           problem ? problem->what() : std::string()};
    });
    failed_starts_ = problem ? failed_starts_ + 1 : 0;
    start_->problem = std::move(problem);
    start_->is_over = true;
    changed_.notify_all();
    if (starts_again_ && failed_start() != nullptr) {
        plan_another_start();
    }
}

void pool_core::plan_another_start() {
    const auto wait = backoff_delay(failed_starts_, context_.random(), config_.restart);
    log_(log_level::warning, [&] {
        return "the start is tried again in " + in_milliseconds(wait) + ": " + failed_start()->what();
    });
    starts_.cancel(); // a start by the user has come before the last plan
    run_in(starts_, start_again(context_.now() + wait, process_generation()));
}

/// `planned_by`: the process_generation() of the time; a forked copy of the process has not asked for workers.
asio::awaitable<void> pool_core::start_again(time_point when, unsigned planned_by) {
    co_await pause_until(context_.executor, when);
    if (failed_start() != nullptr && planned_by == process_generation()) {
        begin_start(std::make_shared<start_attempt>());
    }
}

/// The error of the last start, or what has come after it, if that is what the pool has come to.
const error* pool_core::failed_start() const noexcept {
    if (phase_ == pool_phase::failed) {
        return &*broken_;
    }
    if (!start_) {
        return nullptr;
    }
    if (start_->undone_for) {
        return &*start_->undone_for;
    }
    return phase_ == pool_phase::created && start_->problem ? &*start_->problem : nullptr;
}

asio::awaitable<void> pool_core::ready(std::size_t count) {
    events_.settle();
    const auto attempt = start_;
    if (!attempt && phase_ == pool_phase::created) {
        throw failure(errc::not_started);
    }
    const counted here(ready_waiters_);
    for (;;) {
        if (attempt && attempt->problem && !starts_again_) {
            throw *attempt->problem;
        }
        if (phase_ == pool_phase::stopping || phase_ == pool_phase::stopped) {
            throw failure(errc::shutting_down);
        }
        if (phase_ == pool_phase::failed && !starts_again_) {
            throw *broken_;
        }
        if (roster_.ready() >= count) {
            co_return;
        }
        if (phase_ == pool_phase::running && supervisor_.is_unavailable()) {
            throw failure(errc::unavailable, last_cause());
        }
        co_await changed_.wait();
    }
}

error pool_core::start_failure(std::size_t came_up) const {
    auto info = last_cause();
    info.detail = (starts_again_ ? "it is tried again by itself; " : "") + std::to_string(came_up) + " of " +
                  std::to_string(roster_.desired()) + " workers came up, " +
                  std::to_string(config_.min_ready) + " needed; " + info.detail;
    return failure(errc::start_failed, std::move(info));
}

} // namespace skep

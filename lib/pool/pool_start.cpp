// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_start.hpp"

#include "async/pause.hpp"
#include "core/counted.hpp"
#include "core/duration_text.hpp"
#include "core/with_detail.hpp"
#include "policy/backoff.hpp"
#include "pool/delay_log.hpp"
#include "process/process_generation.hpp"

namespace skep {

namespace {

// Memory for resuming the callers of a failed pool: about 300 callers, before these free their own memory.
constexpr std::size_t spare_bytes = 64u << 10;

constexpr bool may_start(pool_phase phase) noexcept {
    return phase == pool_phase::created || phase == pool_phase::failed;
}

} // namespace

asio::awaitable<void> pool_start::start() {
    if (!may_start(state_.phase)) {
        throw parts_.failure(state_.is_ending() ? errc::shutting_down : errc::already_started);
    }
    const auto mine = std::make_shared<attempt>();
    begin(mine);
    while (!mine->is_over) {
        co_await parts_.changed.wait();
    }
    if (mine->problem) {
        throw *mine->problem;
    }
}

void pool_start::begin(std::shared_ptr<attempt> start_attempt) {
    state_.phase = pool_phase::starting;
    state_.started_in = process_generation();
    state_.failed_start.reset();
    last_ = std::move(start_attempt);
    state_.spare = std::make_unique<std::byte[]>(spare_bytes);
    parts_.run_in(parts_.tasks.phases, run());
}

asio::awaitable<void> pool_start::run() {
    last_->began = parts_.context.now();
    state_.was_available = true;
    parts_.context.publish<events::pool_init_started>([&] {
        return events::pool_init_started{parts_.config.name, parts_.workers.desired()};
    });
    auto work = bring_up();
    auto describe = delay_description([this] { return describe_delay(); });
    co_await log_delays(parts_, "start", std::move(describe), std::move(work));
}

asio::awaitable<void> pool_start::bring_up() {
    if (state_.broken) { // stops the rest of the failed pool
        co_await parts_.stop_workers(stop_stage::kill);
        state_.broken.reset();
        parts_.limit.mend();
        outcomes_.output().reset();
    }
    parts_.supervision.reset();
    parts_.run_in(parts_.tasks.demand, outcomes_.watch_deadlines());
    parts_.run_in(parts_.tasks.demand, outcomes_.watch_batches());
    if (!parts_.config.pipeline_depth) {
        parts_.run_in(parts_.tasks.demand, parts_.calls.recalls().run());
    }
    parts_.run_in(parts_.tasks.demand, parts_.calls.sessions().expire());
    const bool is_prepared = co_await prepare();
    if (is_prepared) {
        co_await launch_until_ready();
    }
    if (state_.phase != pool_phase::starting) {
        complete(parts_.failure(errc::shutting_down));
    } else if (parts_.workers.ready() < parts_.config.min_ready) {
        co_await undo();
    } else {
        state_.phase = pool_phase::running;
        parts_.run_in(parts_.tasks.supply, parts_.supervision.supervise());
        parts_.run_in(parts_.tasks.supply, parts_.scaling.run());
        complete({});
    }
}

/// Runs the user's before_first_worker(). Returns false if that has failed.
asio::awaitable<bool> pool_start::prepare() {
    last_->is_preparing = true;
    const auto complaint = co_await parts_.hooks.before_first_worker();
    last_->is_preparing = false;
    if (!complaint.empty()) {
        parts_.supervision.record_failure(error(errc::initialization_failed, with_detail(complaint)));
    }
    co_return complaint.empty();
}

/// Launches batch after batch, until enough workers are up or the first attempt of every slot has ended. The
/// supervisor does the rest of a launch.
asio::awaitable<void> pool_start::launch_until_ready() {
    parts_.supervision.begin_launch();
    while (state_.phase == pool_phase::starting && parts_.workers.ready() < parts_.config.min_ready) {
        parts_.supervision.progress().close(); // before the check: a start may fail at once
        if (parts_.workers.ready() == 0 && parts_.supervision.last_failure_code() == errc::spawn_failed) {
            parts_.supervision.end_launch(); // further launches would fail as well
        }
        const auto next_batch = parts_.supervision.launch_due(parts_.context.now());
        if (!parts_.supervision.is_launching() && parts_.workers.starting() == 0) {
            break;
        }
        co_await parts_.supervision.progress().wait_until(next_batch);
    }
}

/// Too few workers came up: stops everything again, and fails the calls and checkouts that waited for a
/// worker.
asio::awaitable<void> pool_start::undo() {
    const auto came_up = parts_.workers.ready();
    parts_.supervision.record_failure_under_way();
    const auto& cause = state_.failed_start.emplace(start_failure(came_up)).info();
    parts_.calls.open_calls().abort_running(errc::start_failed, cause);
    parts_.fail_queue(errc::start_failed, cause);
    co_await parts_.stop_workers(stop_stage::ask);
    const auto problem = start_failure(came_up); // again: all workers have ended by now, with known causes
    state_.failed_start.reset();
    if (state_.phase == pool_phase::starting) {
        state_.phase = pool_phase::created;
        state_.started_in = 0;
        state_.failed_start = problem;
    }
    complete(problem);
}

void pool_start::complete(const std::optional<error>& problem) {
    parts_.context.publish<events::pool_init_completed>([&] {
        return events::pool_init_completed{parts_.config.name, parts_.context.now() - last_->began,
                                           parts_.workers.ready(), problem ? problem->what() : std::string()};
    });
    failures_ = problem ? failures_ + 1 : 0;
    end(problem);
    parts_.changed.notify_all();
    if (starts_again_ && state_.problem() != nullptr) {
        plan_another();
    }
}

void pool_start::end(const std::optional<error>& problem) {
    last_->problem = problem;
    last_->is_over = true;
}

void pool_start::plan_another() {
    const auto wait = backoff_delay(failures_, parts_.context.random(), parts_.config.restart);
    parts_.log(log_level::warning, [&] {
        auto cause = state_.problem()->info();
        cause.output_tail.clear(); // has been logged line by line, or the user's handler has it
        return "the start is tried again in " + in_milliseconds(wait) + ": " +
               error(state_.problem()->kind(), std::move(cause)).what();
    });
    parts_.tasks.retries.cancel(); // drops a plan overtaken by a start of the user
    parts_.run_in(parts_.tasks.retries, start_again(parts_.context.now() + wait, process_generation()));
}

/// `planned_by`: the process_generation() at planning. A forked copy of the process starts no workers.
asio::awaitable<void> pool_start::start_again(time_point start_time, unsigned planned_by) {
    co_await pause_until(parts_.context.executor, start_time);
    if (may_start(state_.phase) && planned_by == process_generation()) { // no start by the user is under way
        begin(std::make_shared<attempt>());
    }
}

void pool_start::break_off() noexcept {
    if (is_under_way()) {
        end(state_.broken);
    }
    ++failures_;
}

void pool_start::retry() noexcept {
    if (starts_again_ && last_) {
        try {
            plan_another();
        } catch (...) {} // the pool stays failed
    }
}

asio::awaitable<void> pool_start::ready(std::size_t count) {
    parts_.events.catch_up();
    const auto mine = last_;
    if (!mine && state_.phase == pool_phase::created) {
        throw parts_.failure(errc::not_started);
    }
    const counted here(waiting_);
    for (;;) {
        if (mine && mine->problem && !starts_again_) {
            throw *mine->problem;
        }
        if (state_.is_ending()) {
            throw parts_.failure(errc::shutting_down);
        }
        if (state_.phase == pool_phase::failed && !starts_again_) {
            throw *state_.broken;
        }
        if (parts_.workers.ready() >= count) {
            co_return;
        }
        if (state_.phase == pool_phase::running && parts_.supervision.is_unavailable()) {
            throw parts_.failure(errc::unavailable, parts_.supervision.last_cause());
        }
        co_await parts_.changed.wait();
    }
}

/// Empty once the pool shuts down: the shutdown says what it waits for.
std::string pool_start::describe_delay() const {
    if (state_.phase != pool_phase::starting) {
        return {};
    }
    const auto is_awaited = [](const worker& each) { return !each.life().is_in_service(); };
    const auto awaited =
        last_->is_preparing ? "waiting for before_first_worker" : describe_awaited(parts_, is_awaited);
    return std::to_string(parts_.workers.ready()) + " of " + std::to_string(parts_.workers.desired()) +
           " workers are up, " + std::to_string(parts_.config.min_ready) + " needed" +
           (awaited.empty() ? "" : "; " + awaited);
}

error pool_start::start_failure(std::size_t came_up) const {
    auto info = parts_.supervision.last_cause();
    info.detail = (starts_again_ ? "it is tried again by itself; " : "") + std::to_string(came_up) + " of " +
                  std::to_string(parts_.workers.desired()) + " workers came up, " +
                  std::to_string(parts_.config.min_ready) + " needed; " + info.detail;
    return parts_.failure(errc::start_failed, std::move(info));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_shutdown.hpp"

#include "async/pause.hpp"
#include "process/process_generation.hpp"

#include <algorithm>
#include <string>

namespace skep {

namespace {

// Delay before a shutdown first logs its stragglers, and the interval from then on.
constexpr duration first_straggler_report = std::chrono::seconds(1);
constexpr duration straggler_report_interval = std::chrono::seconds(5);

} // namespace

asio::awaitable<shutdown_report> pool_shutdown::shutdown() {
    parts_.events.catch_up();
    begin();
    while (state_.phase != pool_phase::stopped) {
        co_await parts_.changed.wait();
    }
    co_return report_;
}

void pool_shutdown::abandon() {
    parts_.events.catch_up();
    kills_at_once_ = true;
    begin();
    if (state_.phase == pool_phase::stopping) {
        report_.calls_aborted += parts_.abort_all(errc::shutting_down);
        parts_.supervision.stop_all(stop_stage::kill);
    }
}

void pool_shutdown::begin() {
    if (state_.is_ending()) {
        return;
    }
    if (state_.phase == pool_phase::created) {
        state_.failed_start.reset();
    }
    state_.phase = pool_phase::stopping;
    kills_at_once_ =
        kills_at_once_ || is_copy_of(state_.started_in); // workers of another process get no messages
    parts_.hooks.cancel_start();
    parts_.supervision.progress().open(); // wakes a start under way
    parts_.changed.notify_all();
    parts_.run_in(parts_.tasks.phases, run());
}

asio::awaitable<void> pool_shutdown::run() {
    const auto began = parts_.context.now();
    parts_.log(log_level::debug, [&] { return "shutdown: " + describe_state(); });
    parts_.run_in(parts_.tasks.stragglers, name_stragglers(began));
    while (start_.is_under_way()) {
        co_await parts_.changed.wait();
    }
    parts_.tasks.retries.cancel();
    co_await parts_.tasks.retries.join();
    parts_.tasks.supply.cancel();
    parts_.supervision.end_launch();
    parts_.leases.refuse_checkouts(errc::shutting_down); // new leases could make no calls
    parts_.calls.room().serve_all();
    const auto before = parts_.calls.open_calls().queued() + parts_.calls.open_calls().in_flight();
    fail_queue_if_hopeless();
    if (!kills_at_once_) {
        co_await parts_.calls.open_calls().drain(began + parts_.config.stop.drain_timeout);
    }
    report_.calls_aborted += parts_.abort_all(errc::shutting_down);
    report_.calls_drained = before - std::min(before, report_.calls_aborted);
    co_await parts_.stop_workers(kills_at_once_ ? stop_stage::kill : stop_stage::ask);
    parts_.tasks.stragglers.cancel();
    co_await parts_.tasks.stragglers.join();
    parts_.supervision.drop_vacancies();
    report_.took = parts_.context.now() - began;
    state_.phase = pool_phase::stopped;
    end();
}

void pool_shutdown::end() noexcept {
    if (!parts_.config.events) {
        parts_.context.events->end_waits(); // a waiting subscriber would keep its context at work
    }
    state_.started_in = 0;
    parts_.scaling.release_share();
    parts_.changed.notify_all();
}

void pool_shutdown::on_ended(const worker_exit& end) {
    if (state_.phase == pool_phase::stopping) {
        report_.workers.push_back(end);
    }
}

/// A pool that shuts down starts no workers and ends no suspension: only its current workers can still take
/// queued calls.
void pool_shutdown::fail_queue_if_hopeless() {
    if (state_.phase == pool_phase::stopping && !parts_.suspensions.will_serve()) {
        report_.calls_aborted += parts_.fail_queue(errc::shutting_down, {});
    }
}

/// Logs at intervals the workers that delay a shutdown.
asio::awaitable<void> pool_shutdown::name_stragglers(time_point start_time) {
    auto next = start_time + first_straggler_report;
    for (;;) {
        co_await pause_until(parts_.context.executor, next);
        const auto now = parts_.context.now();
        parts_.log(log_level::info, [&] { return describe_stragglers(now - start_time); });
        next = now + straggler_report_interval;
    }
}

std::string pool_shutdown::describe_stragglers(duration waiting_time) {
    constexpr std::size_t most = 8;
    const auto picture = parts_.status();
    std::string text = "shutdown has taken " + std::to_string(waiting_time / std::chrono::seconds(1)) +
                       " s; " + std::to_string(picture.in_flight) + " calls run, " +
                       std::to_string(picture.queued) + " wait; waiting for";
    std::size_t named = 0;
    std::size_t others = 0;
    for (const auto& each : picture.workers) {
        if (each.state == worker_state::created || each.state == worker_state::pending) {
            continue;
        }
        if (named == most) {
            ++others;
            continue;
        }
        text += (named++ == 0 ? " " : ", ") + to_string(each.id) + " (" + std::string(to_string(each.state)) +
                ", pid " + std::to_string(each.pid);
        text += each.calls.empty() ? ")" : ", at " + each.calls.front().command + ")";
    }
    text += named == 0 ? " what the workers have left" : "";
    return text + (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

std::string pool_shutdown::describe_state() {
    const auto picture = parts_.status();
    std::size_t available = 0;
    std::size_t busy = 0;
    for (const auto& each : picture.workers) {
        available += each.state == worker_state::ready && !each.retiring ? 1 : 0;
        busy += each.state == worker_state::busy ? 1 : 0;
    }
    return std::string("initialised ") + (start_.has_succeeded() ? "yes" : "no") + ", workers " +
           std::to_string(picture.live) + " of " + std::to_string(picture.desired) + ", available " +
           std::to_string(available) + ", busy " + std::to_string(busy) + ", queued " +
           std::to_string(picture.queued) + ", waiters " + std::to_string(start_.waiting());
}

} // namespace skep

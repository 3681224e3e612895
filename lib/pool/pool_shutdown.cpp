// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_shutdown.hpp"

#include "pool/delay_log.hpp"
#include "process/process_generation.hpp"

#include <algorithm>
#include <string>

namespace skep {

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
    auto work = end_calls_and_workers(began);
    auto describe = delay_description([this] { return describe_stragglers(); });
    co_await log_delays(parts_, "shutdown", std::move(describe), std::move(work));
    parts_.tasks.delays.cancel();
    co_await parts_.tasks.delays.join();
    parts_.supervision.drop_vacancies();
    report_.took = parts_.context.now() - began;
    state_.phase = pool_phase::stopped;
    end();
}

asio::awaitable<void> pool_shutdown::end_calls_and_workers(time_point start_time) {
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
        co_await parts_.calls.open_calls().drain(start_time + parts_.config.stop.drain_timeout);
    }
    report_.calls_aborted += parts_.abort_all(errc::shutting_down);
    report_.calls_drained = before - std::min(before, report_.calls_aborted);
    co_await parts_.stop_workers(kills_at_once_ ? stop_stage::kill : stop_stage::ask);
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

std::string pool_shutdown::describe_stragglers() const {
    const auto& calls = parts_.calls.open_calls();
    const auto awaited = describe_awaited(parts_, [](const worker&) { return true; });
    return std::to_string(calls.in_flight()) + " calls run, " + std::to_string(calls.queued()) + " wait; " +
           (awaited.empty() ? "waiting for what the workers have left" : awaited);
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

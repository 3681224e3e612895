// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/autoscaler.hpp"

#include "core/pool_size.hpp"

#include <algorithm>

namespace skep {

namespace {

// Between checks while callers wait longer than the target delay.
constexpr duration shortest_pause = std::chrono::milliseconds(10);

// Checks per cool-down.
constexpr int looks_per_cool_down = 4;

// Between checks while callers wait and other pools have the workers.
constexpr duration pause_without_room = std::chrono::milliseconds(250);

} // namespace

autoscaler::autoscaler(const worker_surroundings& surroundings, open_calls& calls, roster& workers,
                       const suspension& suspended, const pool_log& log, worker_share share)
    : surroundings_(surroundings),
      config_(surroundings.config),
      calls_(calls),
      roster_(workers),
      sizing_(workers),
      suspension_(suspended),
      log_(log),
      share_(std::move(share)),
      scaler_(config_.scaling, size_of(config_.scaling, *config_.workers).limits, surroundings.context.now()),
      wake_(surroundings.context.executor) {
    const auto size = size_of(config_.scaling, *config_.workers);
    sizing_.set_desired(share_.grow_to(size.initial), false);
}

asio::awaitable<void> autoscaler::run() {
    const auto began = surroundings_.context.now(); // ignores the time that the start took
    scaler_ = scaler(config_.scaling, scaler_.limits(), began);
    last_look_ = began;
    work_then_ = calls_.work_done(began);
    for (;;) {
        wake_.close();
        surroundings_.events.catch_up();
        const auto now = surroundings_.context.now();
        if (is_on() && now >= next_check()) {
            evaluate(now);
        }
        armed_ = is_on() ? next_check() : time_point::max();
        co_await wake_.wait_until(armed_);
    }
}

/// Wakes the loop only if the next check is due earlier than planned.
void autoscaler::on_waiting() {
    if (calls_.next_for_any() != nullptr && is_on() && wants_more() && next_check() < armed_) {
        wake_.open();
    }
}

/// Surplus workers keep their places until the workers have ended.
std::size_t autoscaler::most_workers() const noexcept {
    const auto most = share_.most();
    return std::max(roster_.desired(), most - std::min(most, roster_.surplus()));
}

/// Returns the number of workers, at most `target_size`, that the pool may have and has places for.
std::size_t autoscaler::grow_to(std::size_t target_size) noexcept {
    const auto surplus = roster_.surplus();
    const auto held = share_.grow_to(target_size + surplus);
    return std::max(std::min(target_size, roster_.desired()), held - std::min(held, surplus));
}

void autoscaler::adjust_share() noexcept {
    const auto places = roster_.desired() + roster_.surplus();
    share_.grow_to(places); // takes back the pool's minimum, in use by other pools perhaps
    share_.shrink_to(places);
}

void autoscaler::evaluate(time_point now) {
    load_picture load;
    load.desired = roster_.desired();
    load.capacity = roster_.capacity();
    load.running = calls_.in_flight();
    const auto* const next = calls_.next_for_any();
    load.queued = calls_.queued_for_any();
    load.oldest_wait = next == nullptr ? duration::zero() : duration(now - next->submitted);
    if (roster_.starting() == 0) { // workers out of rotation cannot serve the waiting calls
        load.queued += next == nullptr ? 0 : roster_.out_of_rotation() * load.capacity;
    }
    load.in_service = roster_.ready();
    load.utilisation = utilisation(now);
    load.most = most_workers();
    const auto decision = scaler_.decide(load, now);
    if (decision.desired == load.desired) {
        return;
    }
    const bool up = decision.desired > load.desired;
    const auto reached = sizing_.set_desired(grow_to(decision.desired), !up);
    adjust_share();
    if (reached != load.desired) {
        ++(up ? ups_ : downs_);
        publish_scaled(load.desired, reached, decision.reason);
        log_(log_level::info, [&] {
            return "scaled from " + std::to_string(load.desired) + " to " + std::to_string(reached) +
                   " workers: " + decision.reason;
        });
    }
}

void autoscaler::publish_scaled(std::size_t old_size, std::size_t new_size, const std::string& reason) const {
    const auto& pool = config_.name;
    if (new_size > old_size) {
        surroundings_.context.publish<events::pool_scale_up>([&] {
            return events::pool_scale_up{pool, old_size, new_size, reason};
        });
    } else {
        surroundings_.context.publish<events::pool_scale_down>([&] {
            return events::pool_scale_down{pool, old_size, new_size, reason};
        });
    }
}

/// Returns the busy share of the capacity in service since the last check, 0..1.
double autoscaler::utilisation(time_point now) {
    const auto work = calls_.work_done(now);
    const auto offered = static_cast<double>((now - last_look_).count()) *
                         static_cast<double>(roster_.ready() * roster_.capacity());
    const auto done = static_cast<double>((work - work_then_).count());
    last_look_ = now;
    work_then_ = work;
    return offered > 0 ? std::min(1.0, done / offered) : 0;
}

time_point autoscaler::next_check() const {
    const auto& options = config_.scaling;
    auto pause = options.interval;
    if (options.cool_down > duration::zero()) {
        pause = std::min(pause, options.cool_down / looks_per_cool_down);
    }
    const auto routine = last_look_ + std::max(pause, shortest_pause);
    const auto* const next = calls_.next_for_any();
    if (next == nullptr || !wants_more()) {
        return routine;
    }
    const auto overdue = next->submitted + options.target_queue_delay;
    const auto pause_for_callers = may_grow() ? shortest_pause : pause_without_room;
    return std::min(routine, std::max(overdue, last_look_ + pause_for_callers));
}

asio::awaitable<void> autoscaler::resize(size_limits limits) {
    if (!share_.reserve(limits.min)) {
        error_info info;
        info.pool = config_.name;
        info.detail = "limits.min = " + std::to_string(limits.min) + ": must not exceed " +
                      std::to_string(share_.most()) +
                      ", which max_workers of the pool_manager leaves this pool";
        throw error(errc::invalid_config, std::move(info));
    }
    scaler_.resize(limits);
    sizing_.set_desired(std::clamp(roster_.desired(), limits.min, limits.max), false);
    adjust_share();
    wake_.open();
    co_return;
}

void autoscaler::count(pool_counters& counters) const noexcept {
    counters.scale_ups = ups_;
    counters.scale_downs = downs_;
}

} // namespace skep

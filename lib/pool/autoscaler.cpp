// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/autoscaler.hpp"

#include "core/clock.hpp"
#include "core/pool_size.hpp"

#include <algorithm>

namespace skep {

namespace {

// Between looks while callers wait for longer than they should.
constexpr duration shortest_pause = std::chrono::milliseconds(10);

// A cool-down is looked at so many times.
constexpr int looks_per_cool_down = 4;

} // namespace

autoscaler::autoscaler(const strand& executor, const pool_config& config, dispatcher& calls, crew& workers,
                       const pool_log& log)
    : config_(config),
      calls_(calls),
      crew_(workers),
      log_(log),
      scaler_(config.scaling, size_of(config).limits, clock::now()),
      wake_(executor) {}

asio::awaitable<void> autoscaler::run() {
    last_look_ = clock::now();
    work_then_ = calls_.work_done(last_look_);
    while (!closed_) {
        wake_.close();
        const auto now = clock::now();
        if (is_on()) {
            look(now);
        }
        co_await wake_.wait_until(next_look(now));
    }
}

void autoscaler::look(time_point now) {
    load_picture load;
    load.desired = crew_.desired();
    load.running = calls_.in_flight();
    load.queued = calls_.queued();
    load.capacity = config_.capacity;
    load.oldest_wait = calls_.is_queue_empty() ? duration::zero() : duration(now - calls_.oldest());
    load.in_service = crew_.ready();
    load.utilisation = utilisation(now);
    const auto decision = scaler_.decide(load, now);
    if (decision.desired == load.desired) {
        return;
    }
    const bool up = decision.desired > load.desired;
    const auto reached = crew_.set_desired(decision.desired, !up);
    if (reached != load.desired) {
        ++(up ? ups_ : downs_);
        log_(log_level::info, "scaled from " + std::to_string(load.desired) + " to " +
                                  std::to_string(reached) + " workers: " + decision.reason);
    }
}

/// Since the last look.
double autoscaler::utilisation(time_point now) {
    const auto work = calls_.work_done(now);
    const auto offered = static_cast<double>((now - last_look_).count()) *
                         static_cast<double>(crew_.ready() * config_.capacity);
    const auto done = static_cast<double>((work - work_then_).count());
    last_look_ = now;
    work_then_ = work;
    return offered > 0 ? std::min(1.0, done / offered) : 0;
}

time_point autoscaler::next_look(time_point now) const {
    if (!is_on()) {
        return time_point::max();
    }
    const auto& options = config_.scaling;
    auto pause = options.interval;
    if (options.cool_down > duration::zero()) {
        pause = std::min(pause, options.cool_down / looks_per_cool_down);
    }
    const auto routine = now + std::max(pause, shortest_pause);
    if (calls_.is_queue_empty()) {
        return routine;
    }
    const auto overdue = calls_.oldest() + options.target_queue_delay + std::chrono::nanoseconds(1);
    return std::min(routine, std::max(overdue, now + shortest_pause));
}

void autoscaler::resize(size_limits limits) {
    scaler_.resize(limits);
    crew_.set_desired(std::clamp(crew_.desired(), limits.min, limits.max), false);
    wake_.open();
}

void autoscaler::close() {
    closed_ = true;
    wake_.open();
}

void autoscaler::reopen() {
    closed_ = false;
}

void autoscaler::count(pool_counters& counters) const noexcept {
    counters.scale_ups = ups_;
    counters.scale_downs = downs_;
}

} // namespace skep

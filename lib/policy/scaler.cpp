// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/scaler.hpp"

#include "core/duration_text.hpp"

#include <algorithm>
#include <cmath>

namespace skep {

namespace {

constexpr int most_doublings = 4;

double in_seconds(duration span) {
    return std::chrono::duration<double>(span).count();
}

std::string in_percent(double share) {
    return std::to_string(std::lround(100 * share)) + " %";
}

std::size_t within(const size_limits& limits, std::size_t target_count) {
    return std::min(std::max(target_count, limits.min), limits.max);
}

/// Returns the number of workers that have work for `busy` workers, if each is busy for `share` of its time.
std::size_t workers_for(double busy, double share, const size_limits& limits) {
    const double rounding_error = 1e-9;
    const double most = static_cast<double>(limits.max);
    return static_cast<std::size_t>(share > 0 ? std::min(most, std::ceil(busy / share - rounding_error))
                                              : most);
}

/// Returns the number of workers that the present calls keep busy.
std::size_t workers_for_calls(const load_picture& load) {
    const auto capacity = std::max<std::size_t>(1, load.capacity);
    return (load.running + load.queued + capacity - 1) / capacity;
}

} // namespace

scaler::scaler(const scaling_options& options, size_limits limits, time_point now) noexcept
    : options_(options),
      limits_(limits),
      window_began_(now),
      last_look_(now),
      quiet_since_(now),
      calm_since_(now) {}

duration scaler::cool_down() const noexcept {
    return options_.cool_down * (1 << penalty_);
}

scaling_decision scaler::decide(const load_picture& load, time_point now) {
    watch(load, now);
    forgive(now);
    auto decision = choose(load, now);
    if (decision.desired == load.desired) {
        return {load.desired, {}};
    }
    begin_window(now);
    not_quiet(now);
    calm_since_ = now;
    return decision;
}

void scaler::watch(const load_picture& load, time_point now) noexcept {
    const auto in_service = load.in_service != 0 ? load.in_service : load.desired;
    busy_ += load.utilisation * static_cast<double>(in_service) * in_seconds(now - last_look_);
    last_look_ = now;
}

void scaler::begin_window(time_point now) noexcept {
    window_began_ = now;
    busy_ = 0;
}

void scaler::not_quiet(time_point now) noexcept {
    quiet_since_ = now;
    peak_ = 0;
}

void scaler::forgive(time_point now) noexcept {
    if (penalty_ > 0 && now - calm_since_ >= 4 * cool_down()) {
        --penalty_;
        calm_since_ = now;
    }
}

/// Returns the scaler's own limits, with the upper limit reduced to the room left by other pools.
size_limits scaler::bounds(const load_picture& load) const noexcept {
    return {limits_.min, std::max(limits_.min, std::min(limits_.max, load.most))};
}

scaling_decision scaler::choose(const load_picture& load, time_point now) {
    if (load.desired < limits_.min) {
        return {limits_.min, "there are to be at least " + std::to_string(limits_.min)};
    }
    if (load.desired > limits_.max) {
        return {limits_.max, "there may be at most " + std::to_string(limits_.max)};
    }
    if (!is_on()) {
        return {load.desired, {}};
    }
    if (load.queued > 0 && load.oldest_wait >= options_.target_queue_delay) {
        not_quiet(now);
        if (const auto need = within(bounds(load), workers_for_calls(load)); need > load.desired) {
            return grow(need, "callers have waited for " + in_milliseconds(load.oldest_wait), now);
        }
    }
    const bool window_is_over = now - window_began_ >= options_.interval;
    return window_is_over ? judge_window(load, now) : scaling_decision{load.desired, {}};
}

scaling_decision scaler::judge_window(const load_picture& load, time_point now) {
    const double busy = busy_ / in_seconds(now - window_began_);
    const double utilisation = busy / static_cast<double>(load.desired);
    begin_window(now);
    if (const auto limits = bounds(load); utilisation > options_.up && load.desired < limits.max) {
        const auto need = workers_for(busy, (options_.down + options_.up) / 2, limits);
        return grow(std::max(need, load.desired + 1), "the utilisation is " + in_percent(utilisation), now);
    }
    if (utilisation >= options_.down) {
        not_quiet(now);
        return {load.desired, {}};
    }
    peak_ = std::max(peak_, busy);
    return now - quiet_since_ >= cool_down() ? shrink(load, now) : scaling_decision{load.desired, {}};
}

scaling_decision scaler::grow(std::size_t target_count, std::string reason, time_point now) {
    if (last_shrink_ && now - *last_shrink_ <= 2 * cool_down()) {
        penalty_ = std::min(penalty_ + 1, most_doublings);
    }
    last_shrink_.reset();
    return {target_count, std::move(reason)};
}

scaling_decision scaler::shrink(const load_picture& load, time_point now) {
    const auto need =
        within(limits_, std::max(workers_for(peak_, options_.up, limits_), workers_for_calls(load)));
    if (need >= load.desired) {
        return {load.desired, {}};
    }
    const auto step = std::max<std::size_t>(1, (load.desired - need) / 2);
    last_shrink_ = now;
    return {load.desired - step, "the utilisation has been at most " +
                                     in_percent(peak_ / static_cast<double>(load.desired)) + " for " +
                                     in_milliseconds(now - quiet_since_)};
}

} // namespace skep

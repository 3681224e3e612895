// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/restart_intensity.hpp"

#include <algorithm>
#include <limits>

namespace skep {

namespace {

circuit_breaker_options breaker_options(const restart_options& options, duration start_limit) {
    circuit_breaker_options result;
    result.open_time = options.open_time;
    result.trials = 1;
    result.trial_limit = std::max(options.open_time, start_limit);
    return result;
}

} // namespace

restart_intensity::restart_intensity(std::size_t most, const restart_options& options, duration start_limit)
    : most_(most), window_(options.window), fresh_(breaker_options(options, start_limit)), breaker_(fresh_) {}

void restart_intensity::ended(time_point now) {
    if (most_ == 0) {
        return;
    }
    drop_old(now);
    ends_.push_back(now);
    if (ends_.size() <= most_) {
        return;
    }
    while (ends_.size() > most_ + 1) { // the latest ends decide
        ends_.pop_front();
    }
    if (breaker_.state(now) == circuit_state::closed) {
        breaker_.trip(now);
    }
}

std::optional<circuit_breaker::attempt> restart_intensity::admit(time_point now) {
    return breaker_.admit(now);
}

void restart_intensity::came_up(const circuit_breaker::attempt& start, time_point now) {
    breaker_.succeeded(start, now);
}

void restart_intensity::failed(const circuit_breaker::attempt& start, time_point now) {
    if (breaker_.state(now) == circuit_state::half_open) { // while closed, only ends count
        breaker_.failed(start, now);
    }
}

std::size_t restart_intensity::left(time_point now) noexcept {
    drop_old(now);
    if (most_ == 0) {
        return std::numeric_limits<std::size_t>::max();
    }
    return most_ - std::min(most_, ends_.size());
}

void restart_intensity::reset() {
    ends_.clear();
    breaker_ = fresh_;
}

void restart_intensity::drop_old(time_point now) noexcept {
    while (!ends_.empty() && now - ends_.front() >= window_) {
        ends_.pop_front();
    }
}

} // namespace skep

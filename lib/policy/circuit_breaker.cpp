// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include <skep/circuit_breaker.hpp>

#include <algorithm>

namespace skep {

namespace {

void validate(const circuit_breaker_options& options) {
    using namespace std::chrono_literals;
    check_ranges([&](range_check& check) {
        check.group("circuit_breaker", [&] {
            check.number("failures", options.failures, 1, 1'000'000);
            check.time("open_time", options.open_time, 1ms, 24h);
            check.number("trials", options.trials, 1, 1000);
            check.time("trial_limit", options.trial_limit, 1ms, 24h);
        });
    });
}

} // namespace

circuit_breaker::circuit_breaker(const circuit_breaker_options& options) : options_(options) {
    validate(options_);
}

std::optional<circuit_breaker::attempt> circuit_breaker::admit(time_point now) {
    catch_up(now);
    attempt admitted;
    admitted.era = era_;
    if (state_ == circuit_state::closed) {
        return admitted;
    }
    if (state_ == circuit_state::open || trials_.size() >= static_cast<std::size_t>(options_.trials)) {
        return std::nullopt;
    }
    admitted.limit = now + options_.trial_limit;
    trials_.push_back(admitted.limit);
    return admitted;
}

void circuit_breaker::succeeded(const attempt& trial, time_point now) {
    catch_up(now);
    if (trial.era != era_) {
        return;
    }
    failures_ = 0;
    if (state_ == circuit_state::half_open) {
        enter(circuit_state::closed);
    }
}

void circuit_breaker::failed(const attempt& trial, time_point now) {
    catch_up(now);
    if (trial.era != era_) {
        return;
    }
    ++failures_;
    if (state_ == circuit_state::half_open || failures_ >= options_.failures) {
        open(now);
    }
}

void circuit_breaker::abandoned(const attempt& trial, time_point now) {
    catch_up(now);
    const auto found = std::find(trials_.begin(), trials_.end(), trial.limit);
    if (trial.era == era_ && found != trials_.end()) {
        trials_.erase(found);
    }
}

void circuit_breaker::trip(time_point now) {
    open(now);
}

circuit_state circuit_breaker::state(time_point now) {
    catch_up(now);
    return state_;
}

time_point circuit_breaker::next_admission(time_point now) {
    catch_up(now);
    if (state_ == circuit_state::open) {
        return half_opens_at_;
    }
    const bool full =
        state_ == circuit_state::half_open && trials_.size() >= static_cast<std::size_t>(options_.trials);
    return full ? trials_.front() : now;
}

/// Applies the effects of time: the circuit half-opens after open_time, and reopens when a trial exceeds its
/// limit.
void circuit_breaker::catch_up(time_point now) {
    bool changed = true;
    while (changed) {
        changed = false;
        if (state_ == circuit_state::open && now >= half_opens_at_) {
            enter(circuit_state::half_open);
            changed = true;
        } else if (state_ == circuit_state::half_open && !trials_.empty() && now >= trials_.front()) {
            open(trials_.front());
            changed = true;
        }
    }
}

void circuit_breaker::enter(circuit_state state) {
    state_ = state;
    ++era_;
    trials_.clear();
}

void circuit_breaker::open(time_point moment) {
    enter(circuit_state::open);
    half_opens_at_ = moment + options_.open_time;
    failures_ = 0;
}

} // namespace skep

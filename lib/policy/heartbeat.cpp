// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/heartbeat.hpp"

#include "policy/patient_deadline.hpp"

#include <algorithm>
#include <chrono>

namespace skep {

heartbeat_monitor::heartbeat_monitor(const heartbeat_options& options, time_point now) noexcept
    : options_(options), next_tick_(now + options.initial_delay) {}

heartbeat_verdict heartbeat_monitor::tick(time_point now) noexcept {
    heartbeat_verdict verdict;
    constexpr duration short_stall = std::chrono::milliseconds(100);
    if (now - next_tick_ > std::clamp(options_.timeout / 2, short_stall, long_stall)) {
        heard();
    }
    if (silent_since_ && now - *silent_since_ >= options_.timeout) {
        // Each tick sends one ping, so at most one ping becomes overdue per tick, however late the tick is.
        verdict.new_misses = 1;
        ++misses_;
        verdict.lost = misses_ >= options_.misses;
    }
    if (!silent_since_) {
        silent_since_ = now;
    }
    verdict.ping = ++sequence_;
    sent_[sequence_ % sent_.size()] = now;
    next_tick_ = now + options_.interval;
    return verdict;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"

#include <atomic>

namespace skep {

namespace {

// Nanoseconds since the epoch of the monotonic clock, or 0 for real time.
std::atomic<duration::rep> manual_now{0};

} // namespace

time_point clock::now() noexcept {
    const auto manual = manual_now.load(std::memory_order_relaxed);
    return manual == 0 ? std::chrono::steady_clock::now() : time_point(duration(manual));
}

bool clock::is_manual() noexcept {
    return manual_now.load(std::memory_order_relaxed) != 0;
}

manual_time::manual_time() {
    manual_now = std::chrono::steady_clock::now().time_since_epoch().count();
}

manual_time::~manual_time() {
    manual_now = 0;
}

void manual_time::advance(duration step) noexcept {
    manual_now += step.count();
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/health_monitor.hpp"

namespace skep {

health_monitor::health_monitor(const health_check_options& options, bool has_own_check,
                               time_point now) noexcept
    : interval_(options.interval),
      retry_interval_(options.retry_interval),
      limit_(options.failures),
      has_own_check_(has_own_check),
      next_probe_(now + interval_) {}

health_verdict health_monitor::passed_probe(time_point now) noexcept {
    const bool restored = degraded_;
    failures_ = 0;
    degraded_ = false;
    next_probe_ = now + interval_;
    return restored ? health_verdict::restore : health_verdict::none;
}

void health_monitor::answered(time_point now) noexcept {
    failures_ = 0;
    if (!degraded_ && !has_own_check_) { // otherwise the probe that may restore the worker must not wait
        next_probe_ = now + interval_;
    }
}

health_verdict health_monitor::failed(time_point now) noexcept {
    next_probe_ = now + retry_interval_;
    if (++failures_ >= limit_) {
        return health_verdict::remove;
    }
    const bool was_degraded = degraded_;
    degraded_ = true;
    return was_degraded ? health_verdict::none : health_verdict::degrade;
}

} // namespace skep

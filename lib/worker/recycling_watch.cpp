// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/recycling_watch.hpp"

namespace skep {

void recycling_watch::begin(time_point now) {
    const auto& options = core_.config.recycle;
    const double for_age = core_.context.random();
    const double for_calls = core_.context.random();
    const auto resident = options.hard_memory != 0 ? sample(now) : resident_bytes();
    plan_.emplace(options, now, for_age, for_calls, resident);
}

recycle_plan::verdict recycling_watch::judge(time_point now, bool with_memory) {
    if (!plan_ || core_.life.is_over()) {
        return {};
    }
    const auto resident = with_memory ? sample(now) : 0;
    return plan_->judge(now, calls_.completed(), resident, calls_.last_assigned() != time_point());
}

std::uint64_t recycling_watch::bytes() const noexcept {
    return core_.process && !core_.life.process().has_ended ? resident_bytes() : 0;
}

/// Returns the memory of the worker's own.
std::uint64_t recycling_watch::resident_bytes() const noexcept {
    return core_.process->resident_bytes(calls_.memory().mapped_bytes() +
                                         calls_.received_memory().results().bytes());
}

std::uint64_t recycling_watch::sample(time_point now) {
    const auto resident = resident_bytes();
    const auto* const oldest = calls_.oldest();
    growth_.sample(resident, now, oldest != nullptr ? std::optional(oldest->dispatched) : std::nullopt);
    return resident;
}

} // namespace skep

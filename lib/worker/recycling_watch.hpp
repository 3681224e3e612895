// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/growth_watch.hpp"
#include "policy/recycle_plan.hpp"
#include "worker/worker_calls.hpp"

#include <cstdint>
#include <optional>

namespace skep {

/// Watches one worker's age, calls and memory for its recycle_plan, and attributes memory growth to calls.
/// The supply decides when the worker makes room (`pool/supply/replacement.hpp`). Growth counts from the
/// memory at the time the worker comes up. Used on the pool's strand.
class recycling_watch {
public:
    recycling_watch(worker_core& core, const worker_calls& calls) noexcept : core_(core), calls_(calls) {}

    /// Starts the measurement after the hello from process `pid`.
    void measure(std::int64_t pid) noexcept { is_measured_ = core_.process->measure(pid); }

    /// The worker is up.
    void begin(time_point now);

    recycle_plan::verdict judge(time_point now, bool with_memory);

    /// Returns true if the worker has become too large, and calls are not the cause.
    bool is_in_vain() const noexcept { return plan_ && plan_->is_in_vain(); }

    /// Returns true if the worker's memory can be measured. Precondition: the worker is up.
    bool is_measured() const noexcept { return is_measured_; }

    /// Returns the resident memory in bytes; 0 = unknown.
    std::uint64_t bytes() const noexcept;
    time_point due() const noexcept { return plan_ ? plan_->due() : time_point::max(); }
    bool is_used_up() const noexcept { return plan_ && plan_->is_used_up(calls_.completed()); }

    /// Returns true if the last of `calls` calls is the call that uses the worker up. Precondition: the
    /// worker is up.
    bool is_used_up_by(std::uint64_t calls) const noexcept {
        return plan_->is_used_up(calls) && !plan_->is_used_up(calls - 1);
    }

    /// Returns true if the oldest call has brought the worker to its hard memory limit.
    bool has_grown_by_oldest_call() const noexcept {
        return growth_.is_of_oldest_call(core_.config.recycle.hard_memory);
    }

private:
    std::uint64_t resident_bytes() const noexcept;
    std::uint64_t sample(time_point now);

    worker_core& core_;
    const worker_calls& calls_;
    std::optional<recycle_plan> plan_; ///< set once the worker is up
    growth_watch growth_;
    bool is_measured_ = false;
};

} // namespace skep

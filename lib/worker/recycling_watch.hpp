// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/growth_watch.hpp"
#include "policy/recycle_plan.hpp"
#include "worker/worker_calls.hpp"

#include <cstdint>
#include <optional>

namespace skep {

/// Watches one worker's age, calls and memory for its recycle_plan, and knows which call the memory has grown by. The supply
/// decides when the worker makes room (`pool/supply/replacement.hpp`). Growth is measured from what the worker holds when it
/// comes up. On the pool's strand.
class recycling_watch {
public:
    recycling_watch(worker_core& core, const worker_calls& calls) noexcept : core_(core), calls_(calls) {}

    /// The worker has said hello, from the process of that pid.
    void measure(std::int64_t pid) noexcept { is_measured_ = core_.process->measure(pid); }

    /// The worker is up.
    void begin(time_point now);

    recycle_plan::verdict judge(time_point now, bool with_memory);

    /// Whether the worker has become too large, but not by its calls.
    bool is_in_vain() const noexcept { return plan_ && plan_->is_in_vain(); }

    /// Whether its memory can be known; to be asked once it is up.
    bool is_measured() const noexcept { return is_measured_; }

    /// Resident; 0 if not known.
    std::uint64_t bytes() const noexcept;
    time_point due() const noexcept { return plan_ ? plan_->due() : time_point::max(); }
    bool is_used_up() const noexcept { return plan_ && plan_->is_used_up(calls_.completed()); }

    /// Whether the last of so many calls is the one that it is used up by; to be asked once it is up.
    bool is_used_up_by(std::uint64_t calls) const noexcept {
        return plan_->is_used_up(calls) && !plan_->is_used_up(calls - 1);
    }

    /// Whether its oldest call has taken what has brought it to its hard limit.
    bool has_grown_by_oldest_call() const noexcept {
        return growth_.is_of_oldest_call(core_.config.recycle.hard_memory);
    }

private:
    std::uint64_t sample(time_point now);

    worker_core& core_;
    const worker_calls& calls_;
    std::optional<recycle_plan> plan_; ///< once it is up
    growth_watch growth_;
    bool is_measured_ = false;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skep {

/// Decides when a fresh worker replaces one worker. The limits are drawn at random once, so that workers
/// started together do not leave together.
class recycle_plan {
public:
    enum class urgency { none, drain, now };

    struct verdict {
        urgency how = urgency::none;
        std::string reason;      ///< "it is 61000 ms old", "it has answered 20 calls", ...
        bool is_in_vain = false; ///< for its size: a fresh worker would soon be as large
    };

    /// `random_age` and `random_calls` are uniform in [0, 1). `fresh_bytes`: the memory of the worker when
    /// ready; 0 = unknown.
    recycle_plan(const recycle_options& options, time_point ready_at, double random_age, double random_calls,
                 std::uint64_t fresh_bytes = 0);

    /// `resident`: bytes; 0 = unknown. `has_worked`: the worker has been sent a call.
    verdict judge(time_point now, std::uint64_t calls, std::uint64_t resident, bool has_worked = true);

    /// Returns true if the worker is too large and a fresh worker would be too large as soon: calls are not
    /// the cause.
    bool is_in_vain() const noexcept { return is_in_vain_.value_or(false); }

    /// Returns true if `calls` answered calls make the worker due. For the hot path.
    bool is_used_up(std::uint64_t calls) const noexcept { return calls >= calls_; }

    /// Returns the time at which age makes the worker due; time_point::max() = never.
    time_point due() const noexcept { return due_; }

private:
    verdict too_large(urgency recycle_urgency, time_point now, std::uint64_t resident, bool has_worked);

    std::size_t soft_memory_;
    std::size_t hard_memory_;
    time_point ready_at_;
    time_point due_ = time_point::max();
    std::uint64_t calls_;
    std::uint64_t fresh_bytes_;
    duration soon_;
    std::optional<bool> is_in_vain_; ///< as found at the first memory limit that the worker reached
};

} // namespace skep

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

/// When one worker is to make room for a fresh one. Its limits are drawn once, so that workers which started together
/// do not leave together.
class recycle_plan {
public:
    enum class urgency { none, drain, now };

    struct verdict {
        urgency how = urgency::none;
        std::string reason;      ///< "it is 61000 ms old", "it has answered 20 calls", ...
        bool is_in_vain = false; ///< for its size, which a fresh one would soon have as well
    };

    /// `random_age` and `random_calls` are uniform in [0, 1). `fresh_bytes` is what it holds when it is ready; 0 if not
    /// known.
    recycle_plan(const recycle_options& options, time_point ready_at, double random_age, double random_calls,
                 std::uint64_t fresh_bytes = 0);

    /// `resident` bytes; 0 if not known. `has_worked`: it has been sent a call.
    verdict judge(time_point now, std::uint64_t calls, std::uint64_t resident, bool has_worked = true);

    /// It is too large, and a fresh one would be so as soon: that is not due to its calls.
    bool is_in_vain() const noexcept { return is_in_vain_.value_or(false); }

    /// Whether so many calls make it due: for the hot path.
    bool is_used_up(std::uint64_t calls) const noexcept { return calls >= calls_; }

    /// When its age makes it due; time_point::max() if never.
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
    std::optional<bool> is_in_vain_; ///< as it was found when it reached its first limit of memory
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace skep {

/// When one worker is to make room for a fresh one. Its limits are drawn once, so that workers which started together
/// do not leave together.
class recycle_plan {
public:
    enum class urgency { none, drain, now };

    struct verdict {
        urgency how = urgency::none;
        std::string reason; ///< "it is 61000 ms old", "it has answered 20 calls", ...
    };

    /// `random_age` and `random_calls` are uniform in [0, 1).
    recycle_plan(const recycle_options& options, time_point ready_at, double random_age, double random_calls);

    /// `resident` bytes; 0 if not known.
    verdict judge(time_point now, std::uint64_t calls, std::uint64_t resident) const;

    /// Whether so many calls make it due: for the hot path.
    bool is_used_up(std::uint64_t calls) const noexcept { return calls >= calls_; }

    /// When its age makes it due; time_point::max() if never.
    time_point due() const noexcept { return due_; }

private:
    std::size_t soft_memory_;
    std::size_t hard_memory_;
    time_point ready_at_;
    time_point due_ = time_point::max();
    std::uint64_t calls_;
};

} // namespace skep

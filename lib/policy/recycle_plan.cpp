// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/recycle_plan.hpp"

#include "policy/backoff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace skep {

namespace {

std::uint64_t calls_limit(const recycle_options& options, double random) {
    if (options.calls == 0) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    const double calls = static_cast<double>(options.calls) * (1.0 + options.jitter * (2.0 * random - 1.0));
    return static_cast<std::uint64_t>(std::max(1.0, std::round(calls)));
}

bool is_reached(std::size_t limit, std::uint64_t resident) {
    return limit != 0 && resident >= limit;
}

std::string memory_reason(std::uint64_t resident, const char* kind, std::size_t limit) {
    return "it holds " + std::to_string(resident) + " bytes, its " + kind + " limit is " +
           std::to_string(limit);
}

} // namespace

recycle_plan::recycle_plan(const recycle_options& options, time_point ready_at, double random_age,
                           double random_calls)
    : soft_memory_(options.soft_memory),
      hard_memory_(options.hard_memory),
      ready_at_(ready_at),
      calls_(calls_limit(options, random_calls)) {
    if (options.age > duration::zero()) {
        due_ = ready_at + with_jitter(options.age, options.jitter, random_age);
    }
}

recycle_plan::verdict recycle_plan::judge(time_point now, std::uint64_t calls, std::uint64_t resident) const {
    if (is_reached(hard_memory_, resident)) {
        return {urgency::now, memory_reason(resident, "hard", hard_memory_)};
    }
    if (is_reached(soft_memory_, resident)) {
        return {urgency::drain, memory_reason(resident, "soft", soft_memory_)};
    }
    if (is_used_up(calls)) {
        return {urgency::drain, "it has answered " + std::to_string(calls) + " calls"};
    }
    if (now >= due_) {
        const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - ready_at_);
        return {urgency::drain, "it is " + std::to_string(age.count()) + " ms old"};
    }
    return {};
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/recycle_plan.hpp"

#include "policy/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace skep {

namespace {

// Leaks do not explain a worker that is too large within this time, plus one memory interval, after it became
// ready.
constexpr duration at_first = std::chrono::seconds(10);

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

} // namespace

recycle_plan::recycle_plan(const recycle_options& options, time_point ready_at, double random_age,
                           double random_calls, std::uint64_t fresh_bytes)
    : soft_memory_(options.soft_memory),
      hard_memory_(options.hard_memory),
      ready_at_(ready_at),
      calls_(calls_limit(options, random_calls)),
      fresh_bytes_(fresh_bytes),
      soon_(at_first + options.memory_interval) {
    if (options.age > duration::zero()) {
        due_ = ready_at + with_jitter(options.age, options.jitter, random_age);
    }
}

recycle_plan::verdict recycle_plan::too_large(urgency recycle_urgency, time_point now, std::uint64_t resident,
                                              bool has_worked) {
    const auto limit = recycle_urgency == urgency::now ? hard_memory_ : soft_memory_;
    if (!is_in_vain_) {
        const bool is_soon = now - ready_at_ <= soon_;
        const auto nearly = limit - limit / 8;
        is_in_vain_ = fresh_bytes_ >= limit || (is_soon && (!has_worked || fresh_bytes_ >= nearly));
    }
    std::string reason = "it holds " + std::to_string(resident) + " bytes, its " +
                         (recycle_urgency == urgency::now ? "hard" : "soft") + " limit is " +
                         std::to_string(limit);
    if (*is_in_vain_ && fresh_bytes_ > 0) {
        reason += ", and it held " + std::to_string(fresh_bytes_) + " when it was ready";
    }
    return {recycle_urgency, std::move(reason), *is_in_vain_};
}

recycle_plan::verdict recycle_plan::judge(time_point now, std::uint64_t calls, std::uint64_t resident,
                                          bool has_worked) {
    if (is_reached(hard_memory_, resident)) {
        return too_large(urgency::now, now, resident, has_worked);
    }
    if (is_reached(soft_memory_, resident)) {
        return too_large(urgency::drain, now, resident, has_worked);
    }
    is_in_vain_ = resident == 0 ? is_in_vain_ : std::nullopt;
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

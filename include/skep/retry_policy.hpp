// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace skep {

/// Whether, and after what wait, something that failed is tried again: by default up to 3 attempts, 100, 200, 400,
/// 800, 1600 ms apart, each wait varied by up to 25 %, for errors that may pass by themselves.
///
/// A plain value without a clock or timers. Every setter works on a named policy and in a chain; those with a range
/// throw error(errc::invalid_config) naming field, value and rule.
class SKEP_API retry_policy {
public:
    /// Whether an error is worth another attempt.
    using condition = std::function<bool(const error&)>;

    retry_policy();

    /// How often it is tried, the first time included, 1..1000.
    retry_policy& attempts(int most) &;

    /// The waits after the first, second, ... failure, each 0..24 h; the last one repeats. At least one.
    retry_policy& backoff(std::vector<duration> waits) &;

    /// Waits that begin with `first`, 0..24 h, and grow by `factor`, 1..100, each time.
    retry_policy& exponential_backoff(duration first, double factor = 2) &;

    /// No wait is longer, 0..24 h. Default: 30 s.
    retry_policy& longest_wait(duration limit) &;

    /// Each wait varies by up to this share of it, upwards and downwards, 0..1. The longest wait holds all the same.
    retry_policy& jitter(double share) &;

    /// Which errors are worth another attempt; it may look at errc() and info(), such as info().remote_type. Default:
    /// those whose code is retryable().
    retry_policy& when(condition is_worth_it) &;

    retry_policy&& attempts(int most) && { return std::move(attempts(most)); }
    retry_policy&& backoff(std::vector<duration> waits) && { return std::move(backoff(std::move(waits))); }
    retry_policy&& exponential_backoff(duration first, double factor = 2) && {
        return std::move(exponential_backoff(first, factor));
    }
    retry_policy&& longest_wait(duration limit) && { return std::move(longest_wait(limit)); }
    retry_policy&& jitter(double share) && { return std::move(jitter(share)); }
    retry_policy&& when(condition is_worth_it) && { return std::move(when(std::move(is_worth_it))); }

    /// The wait before the next attempt, once `attempt_count` attempts have failed, the last with `failure`; nothing: give up.
    /// `random` is uniform in [0, 1).
    std::optional<duration> wait_after(int attempt_count, const error& failure, double random) const;

private:
    duration planned_wait(int attempt_count) const noexcept;

    int attempts_;
    std::vector<duration> waits_;
    double factor_;
    duration longest_;
    double jitter_;
    condition is_worth_it_;
};

} // namespace skep

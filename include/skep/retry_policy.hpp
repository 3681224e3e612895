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

/// Decides whether a failed operation is tried again, and after how long a wait. Default: up to 3 attempts;
/// waits of 100, 200, 400, 800 and 1600 ms, each varied by up to 25 %; only for errors that may pass by
/// themselves.
///
/// A plain value without clock and timers. Every setter works on a named policy and in a chain.
/// Throws, from setters with a range: error(errc::invalid_config) with field, value and rule.
class SKEP_API retry_policy {
public:
    /// Returns true if an error is worth another attempt.
    using condition = std::function<bool(const error&)>;

    retry_policy();

    /// Sets the number of attempts, including the first, 1..1000.
    retry_policy& attempts(int most) &;

    /// Sets the waits after the first, second, ... failure: 1..1000 waits, each 0..24 h. The last wait
    /// repeats.
    retry_policy& backoff(std::vector<duration> waits) &;

    /// Sets waits that begin with `first`, 0..24 h, and are multiplied by `factor`, 1..100, after each
    /// failure.
    retry_policy& exponential_backoff(duration first, double factor = 2) &;

    /// Limits each wait, 0..24 h. Default: 30 s.
    retry_policy& longest_wait(duration limit) &;

    /// Varies each wait by up to this share, upwards and downwards, 0..1. longest_wait() limits the result.
    retry_policy& jitter(double share) &;

    /// Sets the errors that are worth another attempt. The condition may look at kind() and info(), such as
    /// info().remote_type. Default: errors whose code is retryable().
    /// Throws error(errc::invalid_config) for an empty condition.
    retry_policy& when(condition is_worth_it) &;

    retry_policy&& attempts(int most) && { return std::move(attempts(most)); }
    retry_policy&& backoff(std::vector<duration> waits) && { return std::move(backoff(std::move(waits))); }
    retry_policy&& exponential_backoff(duration first, double factor = 2) && {
        return std::move(exponential_backoff(first, factor));
    }
    retry_policy&& longest_wait(duration limit) && { return std::move(longest_wait(limit)); }
    retry_policy&& jitter(double share) && { return std::move(jitter(share)); }
    retry_policy&& when(condition is_worth_it) && { return std::move(when(std::move(is_worth_it))); }

    /// Returns the wait before the next attempt after `attempt_count` failed attempts, the last with
    /// `failure`.
    /// Returns an empty optional if no further attempt is due. `random`: uniform in [0, 1).
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

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "policy/jitter.hpp"
#include <skep/retry_policy.hpp>

#include <algorithm>
#include <cmath>

namespace skep {

using namespace std::chrono_literals;

namespace {

template <class Check>
void validate(Check check) {
    check_ranges([&](range_check& range) { range.group("retry_policy", [&] { check(range); }); });
}

} // namespace

retry_policy::retry_policy()
    : attempts_(3),
      waits_{100ms, 200ms, 400ms, 800ms, 1600ms},
      factor_(1),
      longest_(30s),
      jitter_(0.25),
      is_worth_it_([](const error& failure) { return retryable(failure.kind()); }) {}

retry_policy& retry_policy::attempts(int most) & {
    validate([&](const range_check& range) { range.number("attempts", most, 1, 1000); });
    attempts_ = most;
    return *this;
}

retry_policy& retry_policy::backoff(std::vector<duration> waits) & {
    validate([&](const range_check& range) {
        range.number("backoff (number of waits)", waits.size(), 1, 1000);
        for (const auto wait : waits) {
            range.time("backoff", wait, 0s, 24h);
        }
    });
    waits_ = std::move(waits);
    factor_ = 1;
    return *this;
}

retry_policy& retry_policy::exponential_backoff(duration first, double factor) & {
    validate([&](const range_check& range) {
        range.time("exponential_backoff (first)", first, 0s, 24h);
        range.real("exponential_backoff (factor)", factor, 1, 100);
    });
    waits_ = {first};
    factor_ = factor;
    return *this;
}

retry_policy& retry_policy::longest_wait(duration limit) & {
    validate([&](const range_check& range) { range.time("longest_wait", limit, 0s, 24h); });
    longest_ = limit;
    return *this;
}

retry_policy& retry_policy::jitter(double share) & {
    validate([&](const range_check& range) { range.real("jitter", share, 0, 1); });
    jitter_ = share;
    return *this;
}

retry_policy& retry_policy::when(condition is_worth_it) & {
    if (!is_worth_it) {
        validate([](const range_check& range) { range.where().reject("when", "", "must not be empty"); });
    }
    is_worth_it_ = std::move(is_worth_it);
    return *this;
}

std::optional<duration> retry_policy::wait_after(int attempt_count, const error& failure,
                                                 double random) const {
    if (attempt_count >= attempts_ || !is_worth_it_(failure)) {
        return std::nullopt;
    }
    return std::min(longest_, with_jitter(planned_wait(attempt_count), jitter_, random));
}

/// Returns the wait without jitter. Capped at the longest wait, so that the product cannot overflow.
duration retry_policy::planned_wait(int attempt_count) const noexcept {
    const auto last = waits_.size() - 1;
    const auto steps = static_cast<std::size_t>(std::max(attempt_count, 1) - 1);
    const auto base = waits_[std::min(steps, last)];
    const auto grown = static_cast<double>(base.count()) *
                       std::pow(factor_, static_cast<double>(steps > last ? steps - last : 0));
    return grown < static_cast<double>(longest_.count()) ? duration(static_cast<duration::rep>(grown))
                                                         : longest_;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace skep {

/// Histogram of durations, in 4 KiB. A bucket is 1 µs wide below 32 µs, and at most a sixteenth of its time
/// above. A quantile is accurate within 5 %, or half a microsecond.
/// Thread safety: as for a plain value.
class SKEP_API histogram {
public:
    /// Adds one duration. A negative duration counts as zero. Beyond 19 hours only sum() and largest() are
    /// exact.
    void record(duration time) noexcept;

    /// Adds all durations of `other`.
    void add(const histogram& other) noexcept;

    /// Returns the durations recorded since this was a copy of `earlier`. largest() of the result is as
    /// accurate as a quantile.
    histogram since(const histogram& earlier) const noexcept;

    /// Returns the number of durations; their sum; the longest.
    std::uint64_t count() const noexcept { return count_; }
    duration sum() const noexcept { return sum_; }
    duration largest() const noexcept { return largest_; }

    /// Returns the duration that a share of all durations does not exceed. `share`: 0..1, for example 0.99.
    /// Returns zero for an empty histogram.
    duration quantile(double share) const noexcept;

    /// Returns the number of durations below `limit`. Exact if `limit` is a power of two in microseconds,
    /// from 1 µs on; otherwise interpolated as if the durations of one bucket were spread evenly.
    std::uint64_t count_below(duration limit) const noexcept;

private:
    std::array<std::uint64_t, 528> buckets_{};
    std::uint64_t count_ = 0;
    duration sum_{};
    duration largest_{};
};

} // namespace skep

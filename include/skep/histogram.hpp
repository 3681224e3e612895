// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace skep {

/// How long something took, many times over, in 4 KiB: times are counted in buckets that are the wider the longer they
/// are, 1 µs each below 32 µs and at most a sixteenth of their time above, so that a quantile is right within 5 %, or half a
/// microsecond.
/// Thread-safety: that of a value.
class SKEP_API histogram {
public:
    /// Below zero counts as zero. Beyond 19 hours only the sum and the largest are exact.
    void record(duration time) noexcept;

    /// What has been recorded there counts here too.
    void add(const histogram& other) noexcept;

    /// What has been recorded since it was a copy of `earlier`. The largest is then known as a quantile is.
    histogram since(const histogram& earlier) const noexcept;

    /// How many times have been recorded, all of them together, and the longest.
    std::uint64_t count() const noexcept { return count_; }
    duration sum() const noexcept { return sum_; }
    duration largest() const noexcept { return largest_; }

    /// The time that so large a share of them did not exceed: `share` is 0..1, as in 0.99. Zero if there are none.
    duration quantile(double share) const noexcept;

    /// How many took less than `limit`: exactly if that is a power of two of microseconds from 1 on, and otherwise as if
    /// those of one bucket were spread evenly over it.
    std::uint64_t count_below(duration limit) const noexcept;

private:
    std::array<std::uint64_t, 528> buckets_{};
    std::uint64_t count_ = 0;
    duration sum_{};
    duration largest_{};
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/histogram.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace skep {

namespace {

using microseconds = std::chrono::duration<std::uint64_t, std::micro>;

} // namespace

/// Above the linear ones, the five highest bits of the time name its octave and its bucket in that.
std::size_t histogram::bucket_of(std::uint64_t time) noexcept {
    if (time < linear_buckets) {
        return time;
    }
    const auto octave = static_cast<std::size_t>(std::bit_width(time) - std::bit_width(linear_buckets));
    if (octave >= octaves) {
        return linear_buckets + octaves * buckets_an_octave - 1;
    }
    return linear_buckets + octave * buckets_an_octave + ((time >> (octave + 1)) - buckets_an_octave);
}

std::uint64_t histogram::begin_of(std::size_t bucket) noexcept {
    if (bucket < linear_buckets) {
        return bucket;
    }
    const auto octave = (bucket - linear_buckets) / buckets_an_octave;
    const auto place = (bucket - linear_buckets) % buckets_an_octave;
    return (buckets_an_octave + place) << (octave + 1);
}

void histogram::record(duration time) noexcept {
    time = std::max(time, duration::zero());
    ++buckets_[bucket_of(std::chrono::duration_cast<microseconds>(time).count())];
    ++count_;
    sum_ += time;
    largest_ = std::max(largest_, time);
}

void histogram::add(const histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        buckets_[i] += other.buckets_[i];
    }
    count_ += other.count_;
    sum_ += other.sum_;
    largest_ = std::max(largest_, other.largest_);
}

duration histogram::quantile(double share) const noexcept {
    if (count_ == 0) {
        return {};
    }
    const auto wanted =
        std::clamp(std::ceil(share * static_cast<double>(count_)), 1.0, static_cast<double>(count_));
    const auto rank = static_cast<std::uint64_t>(wanted);
    std::size_t bucket = 0;
    std::uint64_t passed = buckets_[0];
    while (passed < rank && bucket + 1 < buckets_.size()) {
        passed += buckets_[++bucket];
    }
    if (bucket + 1 == buckets_.size() || rank == count_) {
        return largest_;
    }
    const duration middle = (microseconds(begin_of(bucket)) + microseconds(begin_of(bucket + 1))) / 2;
    return std::min(middle, largest_);
}

std::uint64_t histogram::count_below(duration limit) const noexcept {
    if (limit > largest_) {
        return count_;
    }
    const auto end = std::chrono::duration_cast<microseconds>(std::max(limit, duration::zero())).count();
    const auto last = bucket_of(end);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < last; ++i) {
        below += buckets_[i];
    }
    if (last + 1 == buckets_.size()) {
        return below;
    }
    const auto begin = begin_of(last);
    return below + buckets_[last] * (end - begin) / (begin_of(last + 1) - begin);
}

} // namespace skep

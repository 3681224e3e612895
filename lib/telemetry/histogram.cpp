// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/histogram.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <tuple>

namespace skep {

namespace {

using microseconds = std::chrono::duration<std::uint64_t, std::micro>;

constexpr std::size_t linear_buckets = 32;
constexpr std::size_t buckets_an_octave = 16;
constexpr std::size_t octaves = 31; // above the linear ones: up to 2^36 µs
constexpr std::size_t bucket_count = linear_buckets + octaves * buckets_an_octave;

/// A sum of times may exceed the range of a duration.
duration sum_of(duration one, duration other) noexcept {
    return one > duration::max() - other ? duration::max() : one + other;
}

/// Above the linear buckets, the five highest bits of the time select its octave and its bucket within the
/// octave.
std::size_t bucket_of(std::uint64_t time) noexcept {
    if (time < linear_buckets) {
        return time;
    }
    const auto octave = static_cast<std::size_t>(std::bit_width(time) - std::bit_width(linear_buckets));
    if (octave >= octaves) {
        return bucket_count - 1;
    }
    return linear_buckets + octave * buckets_an_octave + ((time >> (octave + 1)) - buckets_an_octave);
}

std::uint64_t begin_of(std::size_t bucket) noexcept {
    if (bucket < linear_buckets) {
        return bucket;
    }
    const auto octave = (bucket - linear_buckets) / buckets_an_octave;
    const auto place = (bucket - linear_buckets) % buckets_an_octave;
    return (buckets_an_octave + place) << (octave + 1);
}

duration middle_of(std::size_t bucket) noexcept {
    return duration(microseconds(begin_of(bucket) + begin_of(bucket + 1))) / 2;
}

} // namespace

void histogram::record(duration time) noexcept {
    static_assert(std::tuple_size_v<decltype(buckets_)> == bucket_count);
    time = std::max(time, duration::zero());
    ++buckets_[bucket_of(std::chrono::duration_cast<microseconds>(time).count())];
    ++count_;
    sum_ = sum_of(sum_, time);
    largest_ = std::max(largest_, time);
}

void histogram::add(const histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        buckets_[i] += other.buckets_[i];
    }
    count_ += other.count_;
    sum_ = sum_of(sum_, other.sum_);
    largest_ = std::max(largest_, other.largest_);
}

histogram histogram::since(const histogram& earlier) const noexcept {
    auto later = *this;
    std::size_t last = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        later.buckets_[i] -= earlier.buckets_[i];
        last = later.buckets_[i] > 0 ? i : last;
    }
    later.count_ -= earlier.count_;
    later.sum_ -= earlier.sum_;
    const bool is_new = last + 1 == bucket_count || largest_ > earlier.largest_;
    later.largest_ = is_new ? largest_ : std::min(largest_, middle_of(last));
    later.largest_ = later.count_ == 0 ? duration::zero() : later.largest_;
    return later;
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
    while (passed < rank && bucket + 1 < bucket_count) {
        passed += buckets_[++bucket];
    }
    if (bucket + 1 == bucket_count || rank == count_) {
        return largest_;
    }
    return std::min(middle_of(bucket), largest_);
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
    if (last + 1 == bucket_count) {
        return below;
    }
    const auto begin = begin_of(last);
    return below + buckets_[last] * (end - begin) / (begin_of(last + 1) - begin);
}

} // namespace skep

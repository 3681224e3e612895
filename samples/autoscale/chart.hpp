// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/skep.hpp>

#include <cstddef>

/// Draws the number of a pool's workers over time, a row per quarter of a second, and records the extremes.
class chart {
public:
    chart(skep::pool& workers, skep::size_limits limits) : pool_(workers), limits_(limits) {}

    /// Returns when the pool is back at its minimum, after finish().
    boost::asio::awaitable<void> run();

    /// Tells the chart that no more work comes.
    void finish() noexcept { finished_at_ = std::chrono::steady_clock::now(); }

    std::size_t peak() const noexcept { return peak_; }       ///< the most workers that were ready
    std::size_t fewest() const noexcept { return fewest_; }   ///< the fewest workers that were ready
    std::size_t largest() const noexcept { return largest_; } ///< the most that were ready or starting
    skep::duration time_to_peak() const noexcept { return peak_at_ - begun_; }
    skep::duration time_to_return() const noexcept { return returned_at_ - finished_at_; } ///< after finish()
    bool has_returned() const noexcept { return returned_at_ != skep::time_point(); }

private:
    void note(const skep::pool_status& status);
    void draw(const skep::pool_status& status);

    skep::pool& pool_;
    skep::size_limits limits_;
    std::size_t peak_ = 0;
    std::size_t fewest_ = static_cast<std::size_t>(-1);
    std::size_t largest_ = 0;
    skep::time_point begun_;
    skep::time_point peak_at_;
    skep::time_point finished_at_;
    skep::time_point returned_at_;
    skep::time_point next_row_;
};

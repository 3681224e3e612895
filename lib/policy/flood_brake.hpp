// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>

namespace skep {

/// Slows a reader down that receives more than its share, to leave time for others. After a burst, the reader
/// pauses in proportion to the cost of the data taken.
class flood_brake {
public:
    flood_brake(std::size_t burst, std::size_t per_second) noexcept
        : burst_(static_cast<double>(burst)), per_second_(static_cast<double>(per_second)) {}

    /// Charges `cost` at `now`. Returns the time to take more.
    time_point charge(std::size_t cost, time_point now) noexcept {
        const std::chrono::duration<double> passed = now - last_;
        last_ = now;
        debt_ = passed.count() * per_second_ >= debt_ ? 0.0 : debt_ - passed.count() * per_second_;
        debt_ += static_cast<double>(cost);
        const std::chrono::duration<double> pause(debt_ / per_second_);
        return debt_ < burst_ ? now : now + std::chrono::duration_cast<duration>(pause);
    }

private:
    double burst_;
    double per_second_;
    double debt_ = 0;
    time_point last_{};
};

} // namespace skep

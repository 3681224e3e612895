// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>

namespace skep {

/// Slows a reader down that is sent more than it can be expected to take, so that it leaves time for others: after a
/// burst it is to pause for as long as what it has taken is worth.
class flood_brake {
public:
    flood_brake(std::size_t burst, std::size_t per_second) noexcept
        : burst_(static_cast<double>(burst)), per_second_(static_cast<double>(per_second)) {}

    /// So much was taken at `now`. Returns when to take more.
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

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <chrono>

namespace skep {

/// What nobody sleeps through without noticing: the host's loop was blocked, or the machine suspended.
inline constexpr duration long_stall = std::chrono::seconds(1);

/// A deadline that the host sets to others, who have `limit` until then. If the host itself has slept through it, so
/// that it looks much too late, what they did meanwhile may not have been seen yet: they get their time anew, once.
class patient_deadline {
public:
    patient_deadline() = default;
    patient_deadline(time_point due_time, duration limit) noexcept : due_(due_time), limit_(limit) {}

    time_point due() const noexcept { return due_; }

    /// Whether it has passed. To be asked as soon as it may have.
    bool has_passed(time_point now) noexcept {
        constexpr duration short_stall = std::chrono::milliseconds(100);
        if (now < due_) {
            return false;
        }
        if (!extended_ && now - due_ > std::clamp(limit_ / 2, short_stall, long_stall)) {
            extended_ = true;
            due_ = now + limit_;
        }
        return now >= due_;
    }

private:
    time_point due_{};
    duration limit_{};
    bool extended_ = false;
};

} // namespace skep

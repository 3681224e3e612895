// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <chrono>

namespace skep {

/// A longer stall counts as a blocked loop or a suspended machine.
inline constexpr duration long_stall = std::chrono::seconds(1);

/// A deadline that the host sets to others, after `limit`. A check that is much too late shows that the host
/// itself stood still, and may not have seen recent progress: the deadline is then extended by the whole
/// limit, once.
class patient_deadline {
public:
    patient_deadline() = default;
    patient_deadline(time_point due_time, duration limit) noexcept : due_(due_time), limit_(limit) {}

    time_point due() const noexcept { return due_; }

    /// Returns true if the deadline has passed. The caller checks as soon as the deadline may have passed.
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

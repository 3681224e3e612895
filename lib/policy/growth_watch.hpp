// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace skep {

/// Tells a call that takes too much memory from the calls before it, which have left a worker little: fed with every look
/// at the worker's memory.
class growth_watch {
public:
    /// The worker holds `resident` bytes. `start_time` is when it was sent the oldest call that it has, if it has any.
    void sample(std::uint64_t resident, time_point now, std::optional<time_point> start_time) noexcept {
        if (!last_) {
            fresh_ = resident;
            previous_ = resident;
        } else if (!start_time || *start_time >= looked_) {
            previous_ = *last_;
        }
        last_ = resident;
        looked_ = now;
    }

    /// Whether the worker has grown by half of the room that it had when fresh, or more, since it has that call.
    bool is_of_oldest_call(std::uint64_t limit) const noexcept {
        const auto room = limit - std::min(limit, fresh_);
        const auto grown = last_.value_or(0) - std::min(last_.value_or(0), previous_);
        return room > 0 && grown >= room / 2 + room % 2;
    }

private:
    std::uint64_t fresh_ = 0;
    std::uint64_t previous_ = 0; ///< at the last look before it was sent its oldest call
    std::optional<std::uint64_t> last_;
    time_point looked_;
};

} // namespace skep

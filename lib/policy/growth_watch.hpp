// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace skep {

/// Tells if a worker's oldest call takes too much memory, or if earlier calls left the worker little. Every
/// sample of the worker's memory goes through sample().
class growth_watch {
public:
    /// Records that the worker holds `resident` bytes. `start_time`: the time at which the oldest unanswered
    /// call was sent, if any.
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

    /// Returns true if the worker has grown, since its oldest call was sent, by at least half of the room of
    /// the fresh worker.
    bool is_of_oldest_call(std::uint64_t limit) const noexcept {
        const auto room = limit - std::min(limit, fresh_);
        const auto grown = last_.value_or(0) - std::min(last_.value_or(0), previous_);
        return room > 0 && grown >= room / 2 + room % 2;
    }

private:
    std::uint64_t fresh_ = 0;
    std::uint64_t previous_ = 0; ///< at the last sample before the oldest call was sent
    std::optional<std::uint64_t> last_;
    time_point looked_;
};

} // namespace skep

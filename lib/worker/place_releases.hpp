// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace skep {

/// The places that a service no longer reads, and that the worker has not been told of. Thread-safe: the last
/// copy of a blob may end on any thread.
class place_releases {
public:
    /// Provides the memory for the releases of so many places in use, so that add() needs none.
    void make_room(std::size_t places) {
        const std::lock_guard lock(mutex_);
        if (places > places_.capacity()) {
            places_.reserve(std::max(places, 2 * places_.capacity()));
        }
    }

    void add(const region_place& place) noexcept {
        const std::lock_guard lock(mutex_);
        places_.push_back(place);
        has_any_.store(true, std::memory_order_relaxed);
    }

    /// Returns true if there are releases. May miss a release of this moment.
    bool has_any() const noexcept { return has_any_.load(std::memory_order_relaxed); }

    /// Copies the oldest releases, at most `most`.
    std::vector<region_place> first(std::size_t most) const {
        const std::lock_guard lock(mutex_);
        const auto count = static_cast<std::ptrdiff_t>(std::min(most, places_.size()));
        return {places_.begin(), places_.begin() + count};
    }

    /// Removes the oldest releases.
    void drop_first(std::size_t count) noexcept {
        const std::lock_guard lock(mutex_);
        places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(count));
        has_any_.store(!places_.empty(), std::memory_order_relaxed);
    }

private:
    mutable std::mutex mutex_;
    std::vector<region_place> places_; ///< with room for all places in use
    std::atomic<bool> has_any_{false};
};

} // namespace skep

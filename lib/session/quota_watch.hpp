// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>
#include <cstddef>

namespace skep {

/// Decides when to warn that a quota is about to be reached: once at 80 % of it, and again only after there were fewer
/// than 70 %, so that a count that wavers does not warn each time. From any thread.
class quota_watch {
public:
    explicit quota_watch(std::size_t quota) noexcept : quota_(quota) {}

    /// Whether to warn, now that there are `count`.
    bool warns_at(std::size_t count) noexcept {
        if (count * 10 >= quota_ * 8) {
            return !has_warned_.exchange(true);
        }
        if (count * 10 < quota_ * 7) {
            has_warned_ = false;
        }
        return false;
    }

private:
    std::size_t quota_;
    std::atomic<bool> has_warned_{false};
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>
#include <cstddef>

namespace skep {

/// Decides when to warn that a quota is almost reached: once at 80 %, and again only after the count fell
/// below 70 %, so that a fluctuating count causes one warning. Thread-safe.
class quota_watch {
public:
    explicit quota_watch(std::size_t quota) noexcept : quota_(quota) {}

    /// Returns true if a warning is due at `count`.
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

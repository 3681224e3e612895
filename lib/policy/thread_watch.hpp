// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <thread>
#include <utility>

namespace skep {

/// Notices that several threads run an execution context: threads return again and again after others have
/// run. A context that is passed on from thread to thread a few times does not count.
class thread_watch {
public:
    /// `current` runs now. Returns true once, when several threads have been noticed.
    bool observe(std::thread::id current) noexcept {
        if (current == last_) {
            return false;
        }
        const bool has_returned = current == before_last_;
        before_last_ = std::exchange(last_, current);
        return has_returned && ++returns_ == noticed_returns;
    }

private:
    static constexpr unsigned noticed_returns = 8;

    std::thread::id last_;
    std::thread::id before_last_;
    unsigned returns_ = 0;
};

} // namespace skep

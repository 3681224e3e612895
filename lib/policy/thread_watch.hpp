// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <thread>
#include <utility>

namespace skep {

/// Notices that several threads run an execution context: a thread returns after another one has run. A
/// context that was passed on from one thread to the next does not count.
class thread_watch {
public:
    /// `current` runs now. Returns true once, when several threads have been noticed.
    bool observe(std::thread::id current) noexcept {
        if (is_noticed_ || current == last_) {
            return false;
        }
        is_noticed_ = current == before_last_;
        before_last_ = std::exchange(last_, current);
        return is_noticed_;
    }

private:
    std::thread::id last_;
    std::thread::id before_last_;
    bool is_noticed_ = false;
};

} // namespace skep

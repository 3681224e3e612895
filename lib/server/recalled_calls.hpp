// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace skep {

/// Decides, for each recalled call, between its begin and its return to the host: exactly one of both
/// happens. On any thread, because user code may keep the strand busy.
class recalled_calls {
public:
    /// The host wants the call back. Returns true if the call has not begun: it never will.
    bool recall(std::uint64_t id) {
        const std::lock_guard lock(mutex_);
        if (id <= last_begun_) {
            return false;
        }
        ids_.push_back(id);
        return true;
    }

    /// The call's turn has come. Returns false if the call was given back.
    bool begin(std::uint64_t id) noexcept {
        const std::lock_guard lock(mutex_);
        last_begun_ = std::max(last_begun_, id);
        return std::erase(ids_, id) == 0;
    }

private:
    std::mutex mutex_;
    std::vector<std::uint64_t> ids_; ///< given back, and not yet dropped
    std::uint64_t last_begun_ = 0;   ///< calls before may wait, and then begin
};

} // namespace skep

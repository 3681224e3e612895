// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace skep {

/// The ids of calls cancelled by the host and not yet answered, or all calls of an interrupted worker. Known
/// at once, on any thread, even while user code keeps the strand busy.
class cancelled_calls {
public:
    void add(std::uint64_t id) {
        const std::lock_guard lock(mutex_);
        ids_.push_back(id);
        count_ = ids_.size();
    }

    /// Adds all calls, for good. Needs no memory.
    void add_all() noexcept { are_all_ = true; }

    bool contains(std::uint64_t id) const noexcept {
        if (count_ == 0) { // almost always
            return are_all_;
        }
        const std::lock_guard lock(mutex_);
        return are_all_ || std::find(ids_.begin(), ids_.end(), id) != ids_.end();
    }

    void remove(std::uint64_t id) noexcept {
        if (count_ != 0) {
            const std::lock_guard lock(mutex_);
            ids_.erase(std::remove(ids_.begin(), ids_.end(), id), ids_.end());
            count_ = ids_.size();
        }
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> ids_;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> are_all_{false};
};

} // namespace skep

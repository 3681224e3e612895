// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/session_observer.hpp"

#include <mutex>
#include <vector>

namespace skep {

/// Those that are to be told of a store's sessions. Thread-safe.
class session_observers {
public:
    void add(std::weak_ptr<session_observer> added) {
        const std::lock_guard lock(mutex_);
        std::erase_if(all_, [](const auto& each) { return each.expired(); });
        all_.push_back(std::move(added));
    }

    void tell(const std::string& ended) const {
        const std::lock_guard lock(mutex_);
        for (const auto& each : all_) {
            if (const auto observer = each.lock()) {
                observer->on_session_ended(ended);
            }
        }
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::weak_ptr<session_observer>> all_;
};

} // namespace skep

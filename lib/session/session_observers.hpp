// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/session_observer.hpp"

#include <mutex>
#include <vector>

namespace skep {

/// The observers of a store's sessions. Thread-safe.
class session_observers {
public:
    void add(std::weak_ptr<session_observer> observer) {
        const std::lock_guard lock(mutex_);
        std::erase_if(all_, [](const auto& each) { return each.expired(); });
        all_.push_back(std::move(observer));
    }

    void notify_removal(const std::string& id) const {
        for_each([&](session_observer& each) { each.on_session_removed(id); });
    }

    void notify_expiry(const std::string& id, time_point expiry_time) const {
        for_each([&](session_observer& each) { each.on_session_expired(id, expiry_time); });
    }

private:
    template <class Tell>
    void for_each(Tell notify) const {
        const std::lock_guard lock(mutex_);
        for (const auto& each : all_) {
            if (const auto observer = each.lock()) {
                notify(*observer);
            }
        }
    }

    mutable std::mutex mutex_;
    std::vector<std::weak_ptr<session_observer>> all_;
};

} // namespace skep

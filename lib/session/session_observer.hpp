// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <memory>
#include <string>

namespace skep {

class session_store;

/// Observes the ends of sessions, for data that ends with a session.
class session_observer {
public:
    // Called on any thread; must not block or throw.
    virtual void on_session_removed(const std::string& id) noexcept = 0;
    virtual void on_session_expired(const std::string& id, time_point expiry_time) noexcept = 0;

protected:
    ~session_observer() = default;
};

/// Notifies the observer of each end of a session that the store learns of, as long as the observer lives.
void observe(session_store& store, std::weak_ptr<session_observer> observer);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <memory>
#include <string>

namespace skep {

class session_store;

/// Whoever knows something of sessions that ends with them.
class session_observer {
public:
    // On whichever thread that is done; must not block or throw.
    virtual void on_session_removed(const std::string& id) noexcept = 0;
    virtual void on_session_expired(const std::string& id, time_point expiry_time) noexcept = 0;

protected:
    ~session_observer() = default;
};

/// It is told of each end that this store hears of, as long as it lives.
void observe(session_store& store, std::weak_ptr<session_observer> observer);

} // namespace skep

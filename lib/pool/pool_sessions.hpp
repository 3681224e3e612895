// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_parts.hpp"
#include "session/session_observer.hpp"

#include <optional>
#include <string>

namespace skep {

/// The users' operations on sessions and their workers. Follows changes in the pool's session store, if there
/// is one. On the pool's strand, except the observer functions.
class pool_sessions final : public session_observer {
public:
    explicit pool_sessions(pool_parts& parts) noexcept : parts_(parts) {}

    /// Begins to follow the store. To be called once the pool has an owner.
    void watch();

    std::optional<session_binding> binding_of(const std::string& id);
    void bind(const std::string& id, const worker_id& target, std::optional<affinity_mode> mode);

    void on_session_removed(const std::string& id) noexcept override;
    void on_session_expired(const std::string& id, time_point expiry_time) noexcept override;

private:
    void forget_soon(const std::string& id, std::optional<time_point> expiry_time) noexcept;

    pool_parts& parts_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What an admin_server makes of a request, without answering it.

#pragma once

#include <skep/worker_id.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// A change that a request's target names: /pools/NAME/ACTION or /pools/NAME/workers/SLOT.GENERATION/ACTION.
struct admin_change {
    std::string pool;
    std::optional<worker_id> worker; ///< its pool is that pool
    std::string action;
};

/// None if the target is of another form, whatever the action.
std::optional<admin_change> change_in(std::string_view target);

/// The target without its query.
std::string_view path_of(std::string_view target) noexcept;

/// Whether "Bearer TOKEN" is what it has to be. How long that takes tells nothing about the token but its length.
bool is_authorised(std::string_view authorization, std::string_view token) noexcept;

/// Whether a Host header names this machine's loopback, or there is none.
bool is_loopback_host(std::string_view host);

} // namespace skep

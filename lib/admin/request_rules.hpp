// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How an admin_server interprets a request, without the answer.

#pragma once

#include <skep/reply.hpp>
#include <skep/request.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// An action on a pool or worker, named by a request's target: /pools/NAME/ACTION or
/// /pools/NAME/workers/SLOT.GENERATION/ACTION.
struct admin_order {
    std::string pool;
    std::optional<worker_id> worker; ///< the worker's pool is `pool`
    std::string action;
};

/// Returns std::nullopt for a target of another form. Accepts any action.
std::optional<admin_order> order_in(std::string_view target);

/// Returns the call that the body of a request describes: {"command": NAME, "args": {...}, "timeout_ms": N}.
/// The arguments default to none, the timeout to 60 s; it is 1 ms..10 min.
/// Throws error(errc::invalid_request), with the member and the rule.
request call_in(const std::string& body);

/// Returns the answer to a call as JSON. The bytes of attachments are left out.
/// Throws error(errc::invalid_request) if the text has more than 1 MiB.
std::string text_of(reply answer);

/// Returns the target without its query.
std::string_view path_of(std::string_view target) noexcept;

/// Returns true if `authorization` is "Bearer TOKEN". The duration reveals only the length of the token.
bool is_authorised(std::string_view authorization, std::string_view token) noexcept;

/// Returns true if a Host header names this machine's loopback, or is empty.
bool is_loopback_host(std::string_view host);

} // namespace skep

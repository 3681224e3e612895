// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session_store.hpp>

#include <string_view>

namespace skep {

/// Throws error(errc::invalid_config) naming field, value and rule.
void check(const session_options& options);

/// Throws error(errc::invalid_session), without the id, which may be a secret.
void check_session_id(std::string_view id);

/// Of a session; likewise.
void check_session_ttl(duration ttl);

} // namespace skep

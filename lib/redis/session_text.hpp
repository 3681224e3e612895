// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// Returns the contents of a session, without its ttl, as JSON. Throws error(errc::invalid_session) for
/// values that JSON cannot represent.
std::string to_text(const session_data& data);

/// Parses the result of to_text(). Returns std::nullopt for any other text.
std::optional<session_data> to_session_data(std::string_view text, duration ttl);

} // namespace skep

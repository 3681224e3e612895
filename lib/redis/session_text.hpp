// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// What a session holds, but for its ttl, as JSON. Throws error(errc::invalid_session) for what JSON cannot hold.
std::string to_text(const session_data& data);

/// The way back; none if the text is something else.
std::optional<session_data> to_session_data(std::string_view text, duration ttl);

} // namespace skep

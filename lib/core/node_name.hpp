// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/text.hpp"

#include <string_view>

namespace skep {

/// The rule of is_node_name(), for messages.
inline constexpr const char* node_name_rule =
    "must match [A-Za-z0-9][A-Za-z0-9_-]* and have at most 64 characters";

/// Returns true if the text is a valid name of a node or domain: it is a part of a subject.
inline bool is_node_name(std::string_view text) noexcept {
    return is_name(text) && text.find('.') == std::string_view::npos;
}

} // namespace skep

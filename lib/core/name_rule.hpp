// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace skep {

inline constexpr const char* name_rule =
    "must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters";

/// The same as an ECMA-262 regular expression.
inline constexpr const char* name_pattern = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$";

inline bool is_name(std::string_view text) noexcept {
    const auto is_allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    };
    return !text.empty() && text.size() <= 64 && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
           std::all_of(text.begin(), text.end(), is_allowed);
}

} // namespace skep

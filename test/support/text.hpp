// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/utf8.hpp"

#include <string_view>

namespace skep::test {

inline bool contains(std::string_view text, std::string_view part) noexcept {
    return text.find(part) != std::string_view::npos;
}

inline bool is_utf8(std::string_view text) noexcept {
    while (const auto length = utf8_sequence(text)) {
        text.remove_prefix(length);
    }
    return text.empty();
}

} // namespace skep::test

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace skep {

/// Parses a text that consists of one number. Returns false for any other text.
template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
    const auto* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    return result.ec == std::errc() && result.ptr == end;
}

} // namespace skep

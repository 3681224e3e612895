// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

/// How many bytes the well-formed UTF-8 sequence has that `text` begins with; 0 if it begins with none (a stray
/// or missing continuation, a surrogate, an overlong form, a value above U+10FFFF, the end of the text).
std::size_t utf8_sequence(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

/// The text with U+FFFD in place of each byte that is part of no well-formed sequence.
std::string to_utf8(std::string_view text);

/// The beginning, or the end, of what is longer than `limit` bytes, with a mark where it is cut. Never parts a
/// character of well-formed text.
std::string beginning_of(std::string_view text, std::size_t limit);
std::string end_of(std::string_view text, std::size_t limit);

} // namespace skep

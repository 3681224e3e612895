// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <string_view>

namespace skep {

/// How many bytes the well-formed UTF-8 sequence has that `text` begins with; 0 if it begins with none (a stray
/// or missing continuation, a surrogate, an overlong form, a value above U+10FFFF, the end of the text).
std::size_t utf8_sequence(std::string_view text) noexcept;

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace skep {

/// How many bytes the well-formed UTF-8 sequence has that `text` begins with; 0 if it begins with none (a stray
/// or missing continuation, a surrogate, an overlong form, a value above U+10FFFF, the end of the text).
std::size_t utf8_sequence(std::string_view text) noexcept;

/// Whether the text is well-formed UTF-8.
bool is_utf8(std::string_view text) noexcept;

/// The text with U+FFFD in place of each byte that is part of no well-formed sequence.
std::string to_utf8(std::string_view text);

/// The beginning, or the end, of what is longer than `limit` bytes, with a mark where it is cut. Never parts a
/// character of well-formed text.
std::string beginning_of(std::string_view text, std::size_t limit);
std::string end_of(std::string_view text, std::size_t limit);

/// Whether every character is visible ASCII: such a text cannot end a line in the head of an HTTP message.
inline bool is_visible_ascii(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

/// The rule that is_name() checks, for messages.
inline constexpr const char* name_rule =
    "must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters";

/// The same rule as an ECMA-262 regular expression.
inline constexpr const char* name_pattern = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$";

/// Whether the text can be the name of a pool or a tool.
inline bool is_name(std::string_view text) noexcept {
    const auto is_allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    };
    return !text.empty() && text.size() <= 64 && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
           std::all_of(text.begin(), text.end(), is_allowed);
}

/// The message of an exception; never empty.
inline std::string text_of(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const std::exception& e) {
        return *e.what() != '\0' ? e.what() : "an exception without a message";
    } catch (...) {
        return "unknown exception";
    }
}

} // namespace skep

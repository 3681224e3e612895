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

/// Returns the length in bytes of the well-formed UTF-8 sequence at the beginning of `text`; 0 if ill-formed
/// (a stray or missing continuation, a surrogate, an overlong form, a value above U+10FFFF, the end of the
/// text).
std::size_t utf8_sequence(std::string_view text) noexcept;

/// Returns true if the text is well-formed UTF-8.
bool is_utf8(std::string_view text) noexcept;

/// Replaces each byte outside a well-formed sequence by U+FFFD.
std::string to_utf8(std::string_view text);

/// Both shorten a text longer than `limit` bytes to its beginning or end, with a mark at the cut. Characters
/// of well-formed text are kept whole.
std::string beginning_of(std::string_view text, std::size_t limit);
std::string end_of(std::string_view text, std::size_t limit);

/// Returns true if every character is visible ASCII. Such a text cannot end a line in the head of an HTTP
/// message.
inline bool is_visible_ascii(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

/// The rule of is_name(), for messages.
inline constexpr const char* name_rule =
    "must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters";

/// The same rule as an ECMA-262 regular expression.
inline constexpr const char* name_pattern = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$";

/// Returns true if the text is a valid name of a pool or a tool.
inline bool is_name(std::string_view text) noexcept {
    const auto is_allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    };
    return !text.empty() && text.size() <= 64 && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
           std::all_of(text.begin(), text.end(), is_allowed);
}

/// Returns the message of an exception; never empty.
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

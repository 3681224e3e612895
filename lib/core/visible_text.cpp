// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/visible_text.hpp"

#include "core/text.hpp"

#include <array>
#include <cstdio>

namespace skep {

namespace {

/// Returns the code point of a well-formed sequence.
unsigned code_point(std::string_view sequence) noexcept {
    const auto lead = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) {
        return lead;
    }
    unsigned code = lead & (0x7Fu >> sequence.size());
    for (const char each : sequence.substr(1)) {
        code = code << 6 | (static_cast<unsigned char>(each) & 0x3Fu);
    }
    return code;
}

bool acts(unsigned code) noexcept {
    return (code < 0x20 && code != '\t') || (code >= 0x7F && code < 0xA0) || // controls, C0 and C1
           code == 0x61C || code == 0x200E || code == 0x200F ||              // marks of direction
           (code >= 0x2028 && code <= 0x202E) ||                 // separators, embeddings, overrides
           (code >= 0x2066 && code <= 0x206F) ||                 // isolates, deprecated controls
           code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB); // a byte order mark, annotations
}

void append_formatted(std::string& out, const char* format, unsigned code) {
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), format, code);
    out += escape.data();
}

/// Copies `text`, with every other part replaced by `escape(code, is_character)`: a code point, or a byte of
/// ill-formed text.
template <class Escape>
std::string with_escapes(std::string_view text, Escape escape) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const auto length = utf8_sequence(text);
        const auto sequence = text.substr(0, length == 0 ? 1 : length);
        const auto code = length == 0 ? static_cast<unsigned char>(text[0]) : code_point(sequence);
        if (length == 0 || acts(code)) {
            escape(result, code, length > 0);
        } else {
            result += sequence;
        }
        text.remove_prefix(sequence.size());
    }
    return result;
}

} // namespace

std::string visible(std::string_view text, line_feeds feeds) {
    return with_escapes(text, [feeds](std::string& out, unsigned code, bool is_character) {
        if (code == '\n') {
            out += feeds == line_feeds::keep ? "\n" : "\\n";
        } else {
            append_formatted(out, is_character && code >= 0x80 ? "\\u%04x" : "\\x%02x", code);
        }
    });
}

std::string visible_json(std::string_view serialized) {
    return with_escapes(
        serialized, [](std::string& out, unsigned code, bool) { append_formatted(out, "\\u%04x", code); });
}

} // namespace skep

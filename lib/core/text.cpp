// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"

namespace skep {

namespace {

/// Returns the length of the sequence that begins with `lead`, and the range of its second byte; 0 if `lead`
/// is invalid (table 3-7 of the Unicode standard).
std::size_t sequence(unsigned char lead, unsigned char& low, unsigned char& high) noexcept {
    low = 0x80;
    high = 0xBF;
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        low = lead == 0xE0 ? 0xA0 : 0x80;
        high = lead == 0xED ? 0x9F : 0xBF;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF;
        return 4;
    }
    return 0;
}

} // namespace

std::size_t utf8_sequence(std::string_view text) noexcept {
    if (text.empty()) {
        return 0;
    }
    unsigned char low = 0;
    unsigned char high = 0;
    const auto length = sequence(static_cast<unsigned char>(text[0]), low, high);
    if (length == 0 || length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < low || byte > high) {
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const auto length = utf8_sequence(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::string to_utf8(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const auto length = utf8_sequence(text);
        clean += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return clean;
}

namespace {

constexpr std::string_view mark = " ... ";

bool continues(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

} // namespace

std::string beginning_of(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) {
        return std::string(text);
    }
    auto end = limit;
    while (end > 0 && continues(text[end])) {
        --end;
    }
    return std::string(text.substr(0, end)).append(mark);
}

std::string end_of(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) {
        return std::string(text);
    }
    auto begin = text.size() - limit;
    while (begin < text.size() && continues(text[begin])) {
        ++begin;
    }
    return std::string(mark).append(text.substr(begin));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/trace_context.hpp"

#include <algorithm>

namespace skep {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

// version, trace, span and flags, separated by "-"
constexpr std::size_t trace_at = 3;
constexpr std::size_t span_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t length = 55;

bool is_hex(std::string_view text) noexcept {
    return text.find_first_not_of(digits) == std::string_view::npos;
}

bool is_id(std::string_view text, std::size_t size) noexcept {
    return text.size() == size && is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

/// Accepts later versions with more data after the flags.
bool has_known_form(std::string_view header) noexcept {
    if (header.size() < length || header[trace_at - 1] != '-' || header[span_at - 1] != '-' ||
        header[flags_at - 1] != '-') {
        return false;
    }
    const auto version = header.substr(0, 2);
    const bool has_end = header.size() == length || (version != "00" && header[length] == '-');
    return has_end && is_hex(version) && version != "ff" && is_hex(header.substr(flags_at, 2));
}

} // namespace

bool is_trace_id(std::string_view text) noexcept {
    return is_id(text, 32);
}

bool is_span_id(std::string_view text) noexcept {
    return is_id(text, 16);
}

std::optional<trace_context> parse_traceparent(std::string_view header) {
    if (!has_known_form(header)) {
        return std::nullopt;
    }
    const auto trace_id = header.substr(trace_at, 32);
    const auto span_id = header.substr(span_at, 16);
    if (!is_trace_id(trace_id) || !is_span_id(span_id)) {
        return std::nullopt;
    }
    const bool is_sampled = digits.find(header[flags_at + 1]) % 2 == 1;
    return trace_context{std::string(trace_id), std::string(span_id), is_sampled};
}

std::string to_traceparent(const trace_context& place) {
    return "00-" + place.trace_id + '-' + place.span_id + (place.is_sampled ? "-01" : "-00");
}

std::string to_span_id(std::uint64_t id) {
    std::string text(16, '0');
    std::generate(text.rbegin(), text.rend(), [&id] {
        const char digit = digits[id % 16];
        id /= 16;
        return digit;
    });
    return text;
}

} // namespace skep

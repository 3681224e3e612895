// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/duration_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace skep {

namespace {

using namespace std::chrono_literals;

struct unit {
    std::string_view name;
    duration length;
};

constexpr std::array<unit, 7> units{
    {{"d", 24h}, {"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}, {"us", 1us}, {"ns", 1ns}}};

static_assert(std::numeric_limits<long double>::digits >= 64, "to hold each duration exactly");

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Excludes ".5" and "inf", accepted by std::from_chars.
bool is_plain(std::string_view number) {
    number.remove_prefix(number.starts_with('-') ? 1 : 0);
    return !number.empty() && is_digit(number.front()) && is_digit(number.back());
}

} // namespace

std::optional<duration> parse_duration(std::string_view text) {
    long double count = 0;
    const auto* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data(), end, count, std::chars_format::fixed);
    const auto name = text.substr(static_cast<std::size_t>(number.ptr - text.data()));
    const auto found =
        std::find_if(units.begin(), units.end(), [name](const unit& each) { return each.name == name; });
    if (number.ec != std::errc() || found == units.end() ||
        !is_plain(text.substr(0, text.size() - name.size()))) {
        return std::nullopt;
    }
    constexpr auto limit = static_cast<long double>(duration::max().count());
    const auto length = std::round(count * static_cast<long double>(found->length.count()));
    return duration(static_cast<duration::rep>(std::clamp(length, -limit, limit)));
}

std::string to_text(duration span) {
    if (span == 0s) {
        return "0s";
    }
    const auto* const whole = std::find_if(units.begin(), units.end(),
                                           [span](const unit& each) { return span % each.length == 0ns; });
    return std::to_string(span / whole->length).append(whole->name);
}

} // namespace skep

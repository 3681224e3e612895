// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The input of parse_duration(), without a sign, as an ECMA-262 regular expression.
inline constexpr std::string_view duration_pattern = "^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)$";

inline constexpr const char* duration_rule = "must be text such as \"250ms\" or \"1.5s\" (units: ns, us, ms, "
                                             "s, m, h, d); keys that end in _ms take integers";

/// Parses text such as "250ms", "1.5s" or "7d". Rounds to nanoseconds, and clamps to the range of a duration.
/// Returns std::nullopt for other texts.
std::optional<duration> parse_duration(std::string_view text);

/// Returns the duration in the largest unit that gives a whole number: "90s", "2h", "1500us", "0s".
/// parse_duration() reads it back.
std::string to_text(duration span);

/// Returns whole milliseconds: "1500 ms".
inline std::string in_milliseconds(duration span) {
    return std::to_string(span / std::chrono::milliseconds(1)) + " ms";
}

} // namespace skep

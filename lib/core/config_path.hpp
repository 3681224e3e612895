// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace skep {

/// The path of a visitor in a configuration, for messages such as "queue.limit = -1: must be 0..10000000".
class config_path {
public:
    explicit config_path(config_problems& problems) : problems_(problems) {}

    template <class Function>
    void inside(std::string_view group, Function&& function) {
        const auto length = prefix_.size();
        prefix_.append(group).append(".");
        function();
        prefix_.resize(length);
    }

    std::string of(std::string_view field) const { return prefix_ + std::string(field); }

    void reject(std::string_view field, const std::string& value, const std::string& rule) const {
        problems_.add(of(field), value, rule);
    }

private:
    config_problems& problems_;
    std::string prefix_;
};

/// Returns the JSON key of a time in whole milliseconds. The key of a time as text with a unit is `field`
/// itself.
inline std::string milliseconds_key(std::string_view field) {
    return std::string(field) + "_ms";
}

inline std::string in_quotes(std::string_view text) {
    std::string quoted(1, '"');
    quoted.append(text);
    quoted += '"';
    return quoted;
}

/// Returns the shortest text that parses to the same number.
inline std::string in_decimals(double number) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

} // namespace skep

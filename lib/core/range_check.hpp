// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_path.hpp"
#include "core/duration_text.hpp"
#include <skep/time.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace skep {

/// Checks values against inclusive ranges. Each check returns true if the value keeps its rule; otherwise
/// adds field, value and rule to the problems.
class range_check {
public:
    explicit range_check(config_problems& problems) : path_(problems) {}

    template <class Function>
    void group(std::string_view name, Function&& function) {
        path_.inside(name, function);
    }

    template <class Integer>
    bool number(std::string_view field, Integer value, long long low, long long high) const {
        const bool is_kept = static_cast<long long>(value) >= low &&
                             static_cast<unsigned long long>(value) <= static_cast<unsigned long long>(high);
        return verdict(is_kept, field, std::to_string(value), std::to_string(low), std::to_string(high));
    }

    bool real(std::string_view field, double value, double low, double high) const {
        const bool is_kept = value >= low && value <= high; // NaN violates every range
        return verdict(is_kept, field, in_decimals(value), in_decimals(low), in_decimals(high));
    }

    bool time(std::string_view field, duration value, duration low, duration high) const {
        const bool is_kept = value >= low && value <= high;
        const bool is_whole = value % std::chrono::milliseconds(1) == duration(); // else it might look kept
        return verdict(is_kept, field, is_whole ? in_milliseconds(value) : to_text(value),
                       in_milliseconds(low), in_milliseconds(high));
    }

    const config_path& where() const noexcept { return path_; }

private:
    bool verdict(bool is_kept, std::string_view field, const std::string& value, const std::string& low,
                 const std::string& high) const {
        if (!is_kept) {
            path_.reject(field, value, "must be " + low + ".." + high);
        }
        return is_kept;
    }

    config_path path_;
};

/// Calls `check` with a range_check. Throws error(errc::invalid_config) with the problems found.
template <class Check>
void check_ranges(Check check) {
    config_problems problems;
    range_check range(problems);
    check(range);
    problems.raise();
}

} // namespace skep

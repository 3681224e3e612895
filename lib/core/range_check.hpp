// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_path.hpp"
#include <skep/time.hpp>

#include <string>
#include <string_view>

namespace skep {

/// Checks values against inclusive ranges; throws error(errc::invalid_config) naming field, value and rule.
class range_check {
public:
    template <class Function>
    void group(std::string_view name, Function&& function) {
        path_.inside(name, function);
    }

    template <class Integer>
    void number(std::string_view field, Integer value, long long low, long long high) const {
        if (static_cast<long long>(value) < low ||
            static_cast<unsigned long long>(value) > static_cast<unsigned long long>(high)) {
            path_.reject(field, std::to_string(value),
                         "must be " + std::to_string(low) + ".." + std::to_string(high));
        }
    }

    void real(std::string_view field, double value, double low, double high) const {
        if (!(value >= low && value <= high)) {
            path_.reject(field, std::to_string(value),
                         "must be " + std::to_string(low) + ".." + std::to_string(high));
        }
    }

    void time(std::string_view field, duration value, duration low, duration high) const {
        if (value < low || value > high) {
            path_.reject(field, in_milliseconds(value),
                         "must be " + in_milliseconds(low) + ".." + in_milliseconds(high));
        }
    }

    const config_path& where() const noexcept { return path_; }

private:
    config_path path_;
};

} // namespace skep

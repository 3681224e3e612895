// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/range_check.hpp"

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Checks each field of a configuration against its own range.
class field_check : public range_check {
public:
    using range_check::range_check;

    template <class Enum>
    void choice(std::string_view field, Enum value, std::initializer_list<std::string_view> names) {
        if (static_cast<std::size_t>(value) >= names.size()) {
            where().reject(field, std::to_string(static_cast<int>(value)),
                           "is not a value of the enumeration");
        }
    }

    void times(std::string_view field, const std::vector<duration>& values, duration low,
               duration high) const {
        if (values.empty()) {
            where().reject(field, "", "must not be empty");
        }
        for (const auto value : values) {
            time(field, value, low, high);
        }
    }

    // The rules of these types are not ranges: other functions check them.
    void text(std::string_view, const std::string&) {}
    void secret(std::string_view, const std::string&) {}
    void strings(std::string_view, const std::vector<std::string>&) {}
    void variables(std::string_view, const std::map<std::string, std::optional<std::string>>&) {}
    void lists(std::string_view, const std::vector<std::vector<std::string>>&) {}
    void lists_by_name(std::string_view, const std::map<std::string, std::vector<std::string>>&) {}
    void flag(std::string_view, bool) {}

    template <class Integer>
    void optional_number(std::string_view field, const std::optional<Integer>& value, long long low,
                         long long high) const {
        if (value) {
            number(field, *value, low, high);
        }
    }
    void optional_time(std::string_view field, const std::optional<duration>& value, duration low,
                       duration high) const {
        if (value) {
            time(field, *value, low, high);
        }
    }
    void optional_flag(std::string_view, const std::optional<bool>&) {}

    template <class Item, class Visit>
    void groups(std::string_view field, const std::map<std::string, Item, std::less<>>& items,
                Visit&& visit) {
        group(field, [&] {
            for (const auto& [name, item] : items) {
                group(name, [&, &each = item] { visit(each, *this); });
            }
        });
    }
    void path(std::string_view, const std::filesystem::path&) {}
};

} // namespace skep

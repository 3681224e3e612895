// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_path.hpp"
#include "core/duration_text.hpp"
#include <skep/time.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value_from.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

/// Returns the values in milliseconds. Preconditions: each value is a whole number of milliseconds.
inline boost::json::array counts_of(const std::vector<duration>& values) {
    boost::json::array counts;
    for (const auto value : values) {
        counts.push_back(value / std::chrono::milliseconds(1));
    }
    return counts;
}

inline boost::json::array texts_of(const std::vector<duration>& values) {
    boost::json::array texts;
    for (const auto value : values) {
        texts.emplace_back(to_text(value));
    }
    return texts;
}

/// Returns the variables; null means that a variable is removed.
inline boost::json::object object_of(const std::map<std::string, std::optional<std::string>>& variables) {
    boost::json::object object;
    for (const auto& [name, value] : variables) {
        object[name] = value ? boost::json::value_from(*value) : boost::json::value();
    }
    return object;
}

/// A visitor that writes fields to a JSON object, in the format of config_reader.
class config_writer {
public:
    boost::json::object result() && { return std::move(object_); }

    template <class Function>
    void group(std::string_view name, Function&& function) {
        auto outer = std::exchange(object_, {});
        function();
        auto inner = std::exchange(object_, std::move(outer));
        object_[name] = std::move(inner);
    }

    template <class Integer>
    void number(std::string_view field, Integer value, long long, long long) {
        object_[field] = value;
    }

    /// Writes a value outside the enumeration as its number; reading that number fails.
    template <class Enum>
    void choice(std::string_view field, Enum value, std::initializer_list<std::string_view> names) {
        const auto index = static_cast<std::size_t>(value);
        if (index < names.size()) {
            object_[field] = names.begin()[index];
        } else {
            object_[field] = static_cast<int>(value);
        }
    }

    void real(std::string_view field, double value, double, double) { object_[field] = value; }

    void time(std::string_view field, duration value, duration, duration) {
        if (is_whole(value)) {
            object_[milliseconds_key(field)] = value / std::chrono::milliseconds(1);
        } else {
            object_[field] = to_text(value);
        }
    }

    void times(std::string_view field, const std::vector<duration>& values, duration, duration) {
        if (std::all_of(values.begin(), values.end(), is_whole)) {
            object_[milliseconds_key(field)] = counts_of(values);
        } else {
            object_[field] = texts_of(values);
        }
    }

    void flag(std::string_view field, bool value) { object_[field] = value; }

    template <class Integer>
    void optional_number(std::string_view field, const std::optional<Integer>& value, long long low,
                         long long high) {
        if (value) {
            number(field, *value, low, high);
        }
    }

    void optional_time(std::string_view field, const std::optional<duration>& value, duration low,
                       duration high) {
        if (value) {
            time(field, *value, low, high);
        }
    }

    void optional_flag(std::string_view field, const std::optional<bool>& value) {
        if (value) {
            flag(field, *value);
        }
    }

    template <class Item, class Visit>
    void groups(std::string_view field, const std::map<std::string, Item, std::less<>>& items,
                Visit&& visit) {
        group(field, [&] {
            for (const auto& [name, item] : items) {
                group(name, [&, &each = item] { visit(each, *this); });
            }
        });
    }

    void text(std::string_view field, const std::string& value) { object_[field] = value; }
    void secret(std::string_view field, const std::string& value) { text(field, value); }
    void path(std::string_view field, const std::filesystem::path& value) { object_[field] = value.string(); }
    void strings(std::string_view field, const std::vector<std::string>& value) { convert(field, value); }
    void lists(std::string_view field, const std::vector<std::vector<std::string>>& value) {
        convert(field, value);
    }
    void variables(std::string_view field, const std::map<std::string, std::optional<std::string>>& value) {
        object_[field] = object_of(value);
    }
    void lists_by_name(std::string_view field, const std::map<std::string, std::vector<std::string>>& value) {
        convert(field, value);
    }

private:
    static bool is_whole(duration value) { return value % std::chrono::milliseconds(1) == duration(); }

    template <class Value>
    void convert(std::string_view field, const Value& value) {
        object_[field] = boost::json::value_from(value);
    }

    boost::json::object object_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/range_check.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

/// A visitor that reads fields from a JSON object. Missing or invalid fields keep their values. Adds each
/// problem with its JSON path.
class config_reader {
public:
    config_reader(const boost::json::object& object, config_problems& problems)
        : problems_(problems), range_(problems), object_(&object) {}

    template <class Function>
    void group(std::string_view name, Function&& function) {
        const auto* const value = take(name);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            reject({std::string(name), *value}, "must be an object");
            return;
        }
        const auto* const outer = std::exchange(object_, &value->get_object());
        auto outer_keys = std::exchange(known_keys_, {});
        range_.group(name, [&] {
            function();
            reject_unknown_keys();
        });
        object_ = outer;
        known_keys_ = std::move(outer_keys);
    }

    template <class Integer>
    void number(std::string_view field, Integer& target, long long low, long long high) {
        read(field, target, [&](const node& position) { return to_integer(position, low, high); });
    }

    template <class Enum>
    void choice(std::string_view field, Enum& target, std::initializer_list<std::string_view> names) {
        read(field, target, [&](const node& position) {
            return to_index(position, {names.begin(), names.size()});
        });
    }

    /// Returns the value of a key that stands for other fields; std::nullopt if the key is missing or
    /// invalid.
    template <class Enum>
    std::optional<Enum> preset(std::string_view key, std::span<const std::string_view> names) {
        const auto* const value = take(key);
        const auto index = value == nullptr ? std::nullopt : to_index({std::string(key), *value}, names);
        return index ? std::optional(static_cast<Enum>(*index)) : std::nullopt;
    }

    bool has(std::string_view key) const { return object_->contains(key); }

    void reject(std::string_view key, const std::string& value, const std::string& rule) const {
        range_.where().reject(key, value, rule);
    }

    /// Reads one group for each name in an object; `visit(item, *this)` reads the fields of the group.
    template <class Item, class Visit>
    void groups(std::string_view field, std::map<std::string, Item, std::less<>>& target, Visit&& visit) {
        const auto* const value = object_->if_contains(field);
        group(field, [&] {
            for (const auto& each : value->get_object()) {
                const std::string name(each.key());
                group(name, [&] { visit(target[name], *this); });
            }
        });
    }

    void real(std::string_view field, double& target, double low, double high);
    template <class Integer>
    void optional_number(std::string_view field, std::optional<Integer>& target, long long low,
                         long long high) {
        read(field, target, [&](const node& position) -> maybe<std::optional<long long>> {
            if (position.value.is_null()) {
                return std::optional<long long>();
            }
            const auto value = to_integer(position, low, high);
            return value ? maybe<std::optional<long long>>(value) : std::nullopt;
        });
    }
    void optional_time(std::string_view field, std::optional<duration>& target, duration low, duration high);
    void optional_flag(std::string_view field, std::optional<bool>& target);
    void time(std::string_view field, duration& target, duration low, duration high);
    void times(std::string_view field, std::vector<duration>& target, duration low, duration high);
    void flag(std::string_view field, bool& target);
    void text(std::string_view field, std::string& target);

    /// As text(), but messages do not show the value.
    void secret(std::string_view field, std::string& target);
    void path(std::string_view field, std::filesystem::path& target);
    void strings(std::string_view field, std::vector<std::string>& target);
    void lists(std::string_view field, std::vector<std::vector<std::string>>& target);
    void variables(std::string_view field, std::map<std::string, std::optional<std::string>>& target);
    void lists_by_name(std::string_view field, std::map<std::string, std::vector<std::string>>& target);

    /// Accepts a key without reading its value.
    void skip(std::string_view key) { take(key); }

    /// Reports unknown keys. Called after the last field of the whole object; groups call it themselves.
    void reject_unknown_keys();

private:
    struct node {
        std::string place; ///< path inside the group
        const boost::json::value& value;
    };

    /// The converted value, or std::nullopt if it was invalid.
    template <class Item>
    using maybe = std::optional<Item>;

    const boost::json::value* take(std::string_view key) {
        known_keys_.emplace(key);
        return object_->if_contains(key);
    }

    template <class Target, class Convert>
    void read(std::string_view key, Target& target, Convert convert) {
        if (const auto* const value = take(key)) {
            if (auto converted = convert(node{std::string(key), *value})) {
                target = static_cast<Target>(*std::move(converted));
            }
        }
    }

    template <class Target, class FromCount, class FromText>
    void read_time(std::string_view field, Target& target, FromCount from_count, FromText from_text);

    template <class Target, class Convert>
    void read_secret(std::string_view field, Target& target, Convert convert);

    template <class Item, class Convert>
    maybe<std::vector<Item>> to_array(const node& position, const char* rule, Convert convert) const;

    template <class Item, class Convert>
    maybe<std::map<std::string, Item>> to_map(const node& position, const char* rule, Convert convert) const;

    maybe<long long> to_integer(const node& position, long long low, long long high) const;
    maybe<std::size_t> to_index(const node& position, std::span<const std::string_view> names) const;
    maybe<duration> from_milliseconds(const node& position, duration low, duration high) const;
    maybe<duration> from_text(const node& position, duration low, duration high) const;
    maybe<std::string> to_string(const node& position) const;
    maybe<std::optional<std::string>> to_string_or_null(const node& position) const;
    maybe<std::vector<std::string>> to_strings(const node& position) const;
    void reject(const node& position, const std::string& rule) const;

    config_problems& problems_;
    range_check range_;
    const boost::json::object* object_;
    std::set<std::string, std::less<>> known_keys_; ///< keys of the current object visited so far
    bool is_secret_ = false;                        ///< values must not be shown
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_path.hpp"
#include "core/config_writer.hpp"
#include "core/duration_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value_from.hpp>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

/// A visitor that describes fields. The visited values become the defaults.
class schema_writer {
public:
    boost::json::object result() && {
        boost::json::object schema{
            {"type", "object"}, {"properties", std::move(properties_)}, {"additionalProperties", false}};
        if (!excluded_.empty()) {
            schema["dependentSchemas"] = std::move(excluded_);
        }
        return schema;
    }

    template <class Function>
    void group(std::string_view name, Function&& function) {
        auto outer = std::exchange(*this, {});
        function();
        auto inner = std::exchange(*this, std::move(outer));
        properties_[name] = std::move(inner).result();
    }

    template <class Integer>
    void number(std::string_view field, Integer value, long long low, long long high) {
        add(field, range_of("integer", low, high), value);
    }

    void real(std::string_view field, double value, double low, double high) {
        add(field, range_of("number", low, high), value);
    }

    void time(std::string_view field, duration value, duration low, duration high) {
        add(milliseconds_key(field), milliseconds_of(low, high), value / std::chrono::milliseconds(1));
        add(field, duration_between(low, high), boost::json::string(to_text(value)));
        exclude(field);
    }

    void times(std::string_view field, const std::vector<duration>& values, duration low, duration high) {
        add(milliseconds_key(field), not_empty(array_of(milliseconds_of(low, high))), counts_of(values));
        add(field, not_empty(array_of(duration_between(low, high))), texts_of(values));
        exclude(field);
    }

    template <class Enum>
    void choice(std::string_view field, Enum value, std::initializer_list<std::string_view> names) {
        boost::json::object schema{{"enum", boost::json::array(names.begin(), names.end())}};
        add(field, std::move(schema), boost::json::string(names.begin()[static_cast<std::size_t>(value)]));
    }

    void flag(std::string_view field, bool value) { add(field, {{"type", "boolean"}}, value); }

    template <class Integer>
    void optional_number(std::string_view field, const std::optional<Integer>&, long long low,
                         long long high) {
        auto range = range_of("integer", low, high);
        range["type"] = {"integer", "null"};
        properties_[field] = std::move(range);
    }

    void optional_time(std::string_view field, const std::optional<duration>&, duration low, duration high) {
        properties_[milliseconds_key(field)] = milliseconds_of(low, high);
        properties_[field] = duration_between(low, high);
        exclude(field);
    }

    void optional_flag(std::string_view field, const std::optional<bool>&) {
        properties_[field] = {{"type", "boolean"}};
    }

    template <class Item, class Visit>
    void groups(std::string_view field, const std::map<std::string, Item, std::less<>>&, Visit&& visit) {
        schema_writer each;
        const Item unset{};
        visit(unset, each);
        add(field, {{"type", "object"}, {"additionalProperties", std::move(each).result()}},
            boost::json::object());
    }

    /// A key that stands for other fields has no default.
    void preset(std::string_view key, std::span<const std::string_view> names) {
        properties_[key] = {{"enum", boost::json::array(names.begin(), names.end())}};
    }

    void text(std::string_view field, const std::string& value) {
        add(field, string_, boost::json::string(value));
    }

    void secret(std::string_view field, const std::string& value) { text(field, value); }

    void path(std::string_view field, const std::filesystem::path& value) { text(field, value.string()); }

    void strings(std::string_view field, const std::vector<std::string>& value) {
        add(field, array_of(string_), boost::json::value_from(value));
    }

    void lists(std::string_view field, const std::vector<std::vector<std::string>>& value) {
        add(field, array_of(array_of(string_)), boost::json::value_from(value));
    }

    void variables(std::string_view field, const std::map<std::string, std::optional<std::string>>& value) {
        add(field, map_of({{"type", {"string", "null"}}}), object_of(value));
    }

    void lists_by_name(std::string_view field, const std::map<std::string, std::vector<std::string>>& value) {
        add(field, map_of(not_empty(array_of(string_))), boost::json::value_from(value));
    }

private:
    static boost::json::object array_of(boost::json::object items) {
        return {{"type", "array"}, {"items", std::move(items)}};
    }

    static boost::json::object map_of(boost::json::object values) {
        return {{"type", "object"},
                {"propertyNames", {{"pattern", "^(?!SKEP_(?!PURE_PYTHON$))[^=]+$"}}},
                {"additionalProperties", std::move(values)}};
    }

    static boost::json::object range_of(std::string_view type, boost::json::value low,
                                        boost::json::value high) {
        return {{"type", type}, {"minimum", std::move(low)}, {"maximum", std::move(high)}};
    }

    static boost::json::object milliseconds_of(duration low, duration high) {
        return range_of("integer", low / std::chrono::milliseconds(1), high / std::chrono::milliseconds(1));
    }

    /// A pattern cannot express a range of times; config_reader checks the range.
    static boost::json::object duration_between(duration low, duration high) {
        return {{"type", "string"},
                {"pattern", duration_pattern},
                {"description", to_text(low) + ".." + to_text(high)}};
    }

    static boost::json::object not_empty(boost::json::object array) {
        array["minItems"] = 1;
        return array;
    }

    void add(std::string_view key, boost::json::object schema, boost::json::value default_value) {
        schema["default"] = std::move(default_value);
        properties_[key] = std::move(schema);
    }

    /// Excludes the second key of a time: a document has at most one of the two keys.
    void exclude(std::string_view field) {
        excluded_[field] = {{"properties", {{milliseconds_key(field), false}}}};
    }

    boost::json::object string_{{"type", "string"}};
    boost::json::object properties_;
    boost::json::object excluded_;
};

} // namespace skep

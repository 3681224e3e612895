// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_fields.hpp"
#include "core/config_path.hpp"
#include "core/config_writer.hpp"
#include "core/duration_text.hpp"
#include "core/name_rule.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value_from.hpp>

#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

json::object array_of(json::object items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

json::object map_of(json::object values) {
    return {{"type", "object"},
            {"propertyNames", {{"pattern", "^(?!SKEP_)[^=]+$"}}},
            {"additionalProperties", std::move(values)}};
}

json::object range_of(std::string_view type, json::value low, json::value high) {
    return {{"type", type}, {"minimum", std::move(low)}, {"maximum", std::move(high)}};
}

json::object milliseconds_of(duration low, duration high) {
    return range_of("integer", low / std::chrono::milliseconds(1), high / std::chrono::milliseconds(1));
}

/// A pattern cannot tell times in a range from others: that is left to who reads.
json::object duration_between(duration low, duration high) {
    return {{"type", "string"},
            {"pattern", duration_pattern},
            {"description", to_text(low) + ".." + to_text(high)}};
}

/// A visitor of fields that describes them; the values it finds are the defaults.
class schema_writer {
public:
    json::object result() && {
        json::object schema{
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
        add(field, duration_between(low, high), json::string(to_text(value)));
        exclude(field);
    }

    void times(std::string_view field, const std::vector<duration>& values, duration low, duration high) {
        add(milliseconds_key(field), not_empty(array_of(milliseconds_of(low, high))), counts_of(values));
        add(field, not_empty(array_of(duration_between(low, high))), texts_of(values));
        exclude(field);
    }

    template <class Enum>
    void choice(std::string_view field, Enum value, std::initializer_list<std::string_view> names) {
        json::object schema{{"enum", json::array(names.begin(), names.end())}};
        add(field, std::move(schema), json::string(names.begin()[static_cast<std::size_t>(value)]));
    }

    void flag(std::string_view field, bool value) { add(field, {{"type", "boolean"}}, value); }
    void text(std::string_view field, const std::string& value) { add(field, string_, json::string(value)); }

    void path(std::string_view field, const std::filesystem::path& value) { text(field, value.string()); }

    void strings(std::string_view field, const std::vector<std::string>& value) {
        add(field, array_of(string_), json::value_from(value));
    }

    void lists(std::string_view field, const std::vector<std::vector<std::string>>& value) {
        add(field, array_of(array_of(string_)), json::value_from(value));
    }

    void variables(std::string_view field, const std::map<std::string, std::string>& value) {
        add(field, map_of(string_), json::value_from(value));
    }

    void lists_by_name(std::string_view field, const std::map<std::string, std::vector<std::string>>& value) {
        add(field, map_of(not_empty(array_of(string_))), json::value_from(value));
    }

private:
    static json::object not_empty(json::object array) {
        array["minItems"] = 1;
        return array;
    }

    void add(std::string_view key, json::object schema, json::value default_value) {
        schema["default"] = std::move(default_value);
        properties_[key] = std::move(schema);
    }

    /// Of the two keys of a time, a document has one at most.
    void exclude(std::string_view field) {
        excluded_[field] = {{"properties", {{milliseconds_key(field), false}}}};
    }

    json::object string_{{"type", "string"}};
    json::object properties_;
    json::object excluded_;
};

/// What the list of fields does not tell.
void add_rules_of_texts(json::object& schema) {
    auto& properties = schema["properties"].as_object();
    auto& name = properties["name"].as_object();
    name["pattern"] = name_pattern;

    auto& launch = properties["launch"].as_object();
    auto& program = launch["properties"].as_object()["program"].as_object();
    program.erase("default");
    program["minLength"] = 1;
    launch["required"] = json::array{"program"};
    schema["required"] = json::array{"launch"};
}

} // namespace

json::object pool_config::json_schema() {
    const pool_config defaults;
    schema_writer writer;
    visit_fields(defaults, writer);
    auto body = std::move(writer).result();
    add_rules_of_texts(body);
    body["properties"].as_object()["$schema"] = {{"type", "string"}};

    json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                        {"title", "Configuration of a pool of workers"}};
    schema.insert(body.begin(), body.end());
    return schema;
}

} // namespace skep

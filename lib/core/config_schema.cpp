// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_schema.hpp"

#include "core/config_fields.hpp"
#include "core/presets.hpp"
#include "core/schema_writer.hpp"
#include "core/text.hpp"
#include <skep/pool_config.hpp>

#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

/// Adds the rules that the list of fields does not contain.
void add_rules_of_texts(json::object& schema) {
    auto& properties = schema["properties"].as_object();
    properties["name"].as_object()["pattern"] = name_pattern;
    auto& launch = properties["launch"].as_object()["properties"].as_object();
    auto& program = launch["program"].as_object();
    program.erase("default");
    program["minLength"] = 1;
}

void require_program(json::object& schema) {
    schema["properties"].as_object()["launch"].as_object()["required"] = json::array{"program"};
    schema["required"] = json::array{"launch"};
}

} // namespace

json::object schema_of_pool_fields() {
    const pool_config defaults;
    schema_writer writer;
    visit_fields(defaults, writer);
    writer.preset("timeout_profile", timeout_profiles);
    writer.preset("capacity_strategy", capacity_strategies);
    auto schema = std::move(writer).result();
    add_rules_of_texts(schema);
    return schema;
}

json::object schema_document(std::string_view title, const json::object& body) {
    json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
    schema.insert(body.begin(), body.end());
    schema["properties"].as_object()["$schema"] = {{"type", "string"}};
    return schema;
}

json::object pool_config::json_schema() {
    auto body = schema_of_pool_fields();
    require_program(body);
    return schema_document("Configuration of a pool of workers", body);
}

} // namespace skep

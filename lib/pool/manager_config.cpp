// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_fields.hpp"
#include "core/config_json.hpp"
#include "core/config_reader.hpp"
#include "core/config_schema.hpp"
#include "core/config_writer.hpp"
#include "core/launch_paths.hpp"
#include "core/presets.hpp"
#include "core/remote_config.hpp"
#include "core/remote_fields.hpp"
#include "core/schema_writer.hpp"
#include "pool/config_check.hpp"
#include "pool/config_file.hpp"
#include "session/session_rules.hpp"
#include <skep/pool_manager.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

/// All fields except the pools and their defaults.
template <class Config, class Visitor>
void visit_manager_fields(Config& config, Visitor& visitor) {
    visitor.text("default_pool", config.default_pool);
    visitor.group("sessions", [&] { visit_session_fields(config.sessions, visitor); });
    visitor.number("max_workers", config.max_workers, 0, 1'000'000);
    visitor.flag("restart_failed_pools", config.restart_failed_pools);
}

void read_node(config_reader& reader, manager_config& config, config_problems& problems) {
    if (reader.has("node")) {
        auto& node = config.node.emplace();
        reader.group("node", [&] { visit_node_fields(node, reader); });
        config_problems own;
        check(node, own);
        problems.add_below("node", own);
    }
}

std::string place_of(std::size_t index) {
    return "pools[" + std::to_string(index) + "]";
}

void read_pools(const json::value& pool_list, const pool_config& defaults,
                const std::filesystem::path& folder, manager_config& config, config_problems& problems) {
    if (!pool_list.is_array() || pool_list.get_array().empty()) {
        problems.add("pools", "", "must be an array of at least one object");
        return;
    }
    std::set<std::string> names;
    for (const auto& each : pool_list.get_array()) {
        const auto place = place_of(config.pools.size());
        config_problems own;
        auto& added = config.pools.emplace_back();
        if (!each.is_object()) {
            problems.add(place, "", "must be an object");
            continue;
        }
        added = read_config(each.get_object(), own, defaults);
        count_paths_from(folder, added.launch);
        check(added, own);
        own.expect(names.insert(added.name).second, {"name"}, in_quotes(added.name),
                   "there is a pool of that name");
        problems.add_below(place, own);
    }
}

} // namespace

void check_max_workers(const manager_config& config, config_problems& problems) {
    std::size_t sum = 0;
    std::string parts;
    for (const auto& each : config.pools) {
        const auto least = least_workers(each);
        sum += least;
        parts += (parts.empty() ? "" : ", ") + each.name + " " + std::to_string(least);
    }
    problems.expect(config.max_workers == 0 || config.max_workers >= sum, {"max_workers", "pools"},
                    std::to_string(config.max_workers),
                    "must be 0, or at least " + std::to_string(sum) +
                        ": the least numbers of workers of the pools are " + parts);
    problems.expect(config.max_workers <= 1'000'000, {"max_workers"}, std::to_string(config.max_workers),
                    "must be 0..1000000");
}

namespace {

manager_config read_manager(const json::value& document, const config_origin& origin) {
    config_problems problems;
    if (!document.is_object()) {
        problems.add("the document", "", "must be a JSON object");
        problems.raise(origin.name);
    }
    const auto& object = document.get_object();
    manager_config config;
    pool_config defaults;
    config_reader reader(object, problems);
    reader.skip("$schema");
    reader.group("defaults", [&] { read_fields(defaults, reader); });
    visit_manager_fields(config, reader);
    read_node(reader, config, problems);
    reader.skip("pools");
    reader.reject_unknown_keys();
    const auto* const listed = object.if_contains("pools");
    read_pools(listed == nullptr ? json::value() : *listed, defaults, origin.folder, config, problems);
    const auto is_named = [&](const pool_config& each) { return each.name == config.default_pool; };
    const bool is_known =
        config.default_pool.empty() || std::any_of(config.pools.begin(), config.pools.end(), is_named);
    problems.expect(is_known, {"default_pool", "pools"}, in_quotes(config.default_pool),
                    "is the name of no pool");
    check_max_workers(config, problems);
    problems.raise(origin.name);
    return config;
}

} // namespace

manager_config manager_config::from_json(const json::value& document) {
    return read_manager(document, {});
}

manager_config manager_config::from_file(const std::filesystem::path& path) {
    const auto file = read_config_file(path);
    return read_manager(file.document, file.origin);
}

json::object to_json(const manager_config& config) {
    config_writer writer;
    visit_manager_fields(config, writer);
    if (config.node) {
        writer.group("node", [&] { visit_node_fields(*config.node, writer); });
    }
    auto result = std::move(writer).result();
    auto& pools = result["pools"].emplace_array();
    for (const auto& each : config.pools) {
        pools.push_back(to_json(each));
    }
    return result;
}

std::size_t descriptors_needed(const manager_config& config) {
    std::size_t sum = 0;
    for (const auto& each : config.pools) {
        sum += descriptors_needed(each);
    }
    return sum;
}

json::object manager_config::json_schema() {
    const manager_config defaults;
    schema_writer writer;
    visit_manager_fields(defaults, writer);
    const node_options node;
    writer.group("node", [&] { visit_node_fields(node, writer); });
    auto body = std::move(writer).result();
    auto& properties = body["properties"].as_object();
    const json::object pool{{"$ref", "#/$defs/pool"}};
    properties["defaults"] = pool;
    properties["pools"] = {{"type", "array"}, {"minItems", 1}, {"items", pool}};
    body["$defs"] = {{"pool", schema_of_pool_fields()}}; // no program required: `defaults` may contain it
    body["required"] = json::array{"pools"};
    return schema_document("Configuration of several pools of workers", body);
}

} // namespace skep

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
#include "core/text.hpp"
#include "pool/admin_config.hpp"
#include "pool/config_check.hpp"
#include "pool/config_file.hpp"
#include "session/session_rules.hpp"
#include <skep/pool_manager.hpp>

#include <algorithm>
#include <set>
#include <string_view>
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

/// Returns the usual options for one that has problems: each user would have the same problems again.
nats_options read_shared_nats(config_reader& reader, config_problems& problems) {
    nats_options shared;
    reader.group("nats", [&] { visit_nats_fields(shared, reader); });
    config_problems own;
    check(shared, own);
    problems.add_below("nats", own);
    return own.empty() ? shared : nats_options();
}

void read_node(config_reader& reader, const nats_options& shared, manager_config& config,
               config_problems& problems) {
    if (reader.has("node")) {
        auto& node = config.node.emplace();
        node.nats = shared;
        reader.group("node", [&] { visit_node_fields(node, reader); });
        config_problems own;
        check(node, own);
        problems.add_below("node", own);
    }
}

void read_admin(config_reader& reader, manager_config& config, config_problems& problems) {
    if (reader.has("admin")) {
        auto& admin = config.admin.emplace();
        reader.group("admin", [&] { visit_admin_fields(admin, reader); });
        config_problems own;
        check(admin, own);
        problems.add_below("admin", own);
    }
}

template <class Place, class Visitor>
void visit_remote_place(Place& place, Visitor& visitor) {
    visitor.choice("overflow", place.mode, {"local_first", "elsewhere_first"});
    visit_nameless_remote_fields(place.options, visitor);
}

/// `local`: the pool of that name, whose fields of calls apply unless "remote" sets them.
remote_place read_remote(const json::object& object, const pool_config& local, const nats_options& shared,
                         config_problems& problems) {
    remote_place place;
    place.options.nats = shared;
    place.options.name = place.options.pool = local.name;
    place.options.drain_timeout = local.stop.drain_timeout;
    copy_call_fields(local, place.options);
    config_reader reader(object, problems);
    reader.group("remote", [&] { visit_remote_place(place, reader); });
    config_problems own;
    check(place.options, own);
    problems.add_below("remote", own);
    return place;
}

bool is_only_remote(const json::object& object) {
    const auto* const workers = object.if_contains("workers");
    return object.contains("remote") && workers != nullptr && *workers == 0;
}

/// Reads a pool and its place elsewhere into `config`. Returns the name.
std::string read_pool(const json::object& object, const pool_config& defaults, const nats_options& shared,
                      const std::filesystem::path& folder, manager_config& config,
                      config_problems& problems) {
    const bool has_remote = object.contains("remote");
    const bool is_here = !is_only_remote(object);
    auto local_part = object;
    local_part.erase("remote");
    if (!is_here) {
        local_part.erase("workers");
    }
    auto local = read_config(local_part, problems, defaults);
    count_paths_from(folder, local.launch);
    const bool has_name = is_name(local.name);
    if (is_here) {
        check(local, problems);
    } else {
        problems.expect(has_name, {"name"}, in_quotes(local.name), name_rule);
    }
    if (has_remote && has_name) {
        config.remote.push_back(read_remote(object, local, shared, problems));
    }
    auto name = local.name;
    if (is_here) {
        config.pools.push_back(std::move(local));
    }
    return name;
}

std::string place_of(std::size_t index) {
    return "pools[" + std::to_string(index) + "]";
}

void read_pools(const json::value& pool_list, const pool_config& defaults, const nats_options& shared,
                const std::filesystem::path& folder, manager_config& config, config_problems& problems) {
    if (!pool_list.is_array() || pool_list.get_array().empty()) {
        problems.add("pools", "", "must be an array of at least one object");
        return;
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < pool_list.get_array().size(); ++i) {
        const auto& each = pool_list.get_array()[i];
        if (!each.is_object()) {
            problems.add(place_of(i), "", "must be an object");
            continue;
        }
        config_problems own;
        const auto name = read_pool(each.get_object(), defaults, shared, folder, config, own);
        own.expect(names.insert(name).second, {"name"}, in_quotes(name), "there is a pool of that name");
        problems.add_below(place_of(i), own);
    }
}

bool has_pool(const manager_config& config, std::string_view name) {
    const auto is_here = [&](const pool_config& each) { return each.name == name; };
    const auto is_elsewhere = [&](const remote_place& each) { return name_of(each.options) == name; };
    return std::any_of(config.pools.begin(), config.pools.end(), is_here) ||
           std::any_of(config.remote.begin(), config.remote.end(), is_elsewhere);
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
    const auto shared = read_shared_nats(reader, problems);
    read_node(reader, shared, config, problems);
    read_admin(reader, config, problems);
    reader.skip("pools");
    reader.reject_unknown_keys();
    const auto* const listed = object.if_contains("pools");
    read_pools(listed == nullptr ? json::value() : *listed, defaults, shared, origin.folder, config,
               problems);
    const bool is_known = config.default_pool.empty() || has_pool(config, config.default_pool);
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

namespace {

json::object document_of(const remote_place& place) {
    config_writer writer;
    visit_remote_place(place, writer);
    return std::move(writer).result();
}

/// Returns the pool of that name; a new one without workers if there is none.
json::object& object_of_pool(json::array& pools, const std::string& name) {
    for (auto& each : pools) {
        if (each.at("name") == json::value(name)) {
            return each.get_object();
        }
    }
    return pools.emplace_back(json::object{{"name", name}, {"workers", 0}}).get_object();
}

} // namespace

json::object to_json(const manager_config& config) {
    config_writer writer;
    visit_manager_fields(config, writer);
    if (config.node) {
        writer.group("node", [&] { visit_node_fields(*config.node, writer); });
    }
    if (config.admin) {
        writer.group("admin", [&] { visit_admin_fields(*config.admin, writer); });
    }
    auto result = std::move(writer).result();
    auto& pools = result["pools"].emplace_array();
    for (const auto& each : config.pools) {
        pools.push_back(to_json(each));
    }
    for (const auto& each : config.remote) {
        object_of_pool(pools, name_of(each.options))["remote"] = document_of(each);
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

namespace {

/// Requires no program: `defaults` may contain it.
json::object schema_of_pool() {
    auto schema = schema_of_pool_fields();
    auto& properties = schema["properties"].as_object();
    properties["workers"].as_object()["minimum"] = 0; // with `remote`
    schema_writer writer;
    const remote_place defaults;
    visit_remote_place(defaults, writer);
    properties["remote"] = std::move(writer).result();
    return schema;
}

} // namespace

json::object manager_config::json_schema() {
    const manager_config defaults;
    schema_writer writer;
    visit_manager_fields(defaults, writer);
    const node_options node;
    writer.group("nats", [&] { visit_nats_fields(node.nats, writer); });
    writer.group("node", [&] { visit_node_fields(node, writer); });
    const admin_options admin;
    writer.group("admin", [&] { visit_admin_fields(admin, writer); });
    auto body = std::move(writer).result();
    auto& properties = body["properties"].as_object();
    const json::object pool{{"$ref", "#/$defs/pool"}};
    properties["defaults"] = pool;
    properties["pools"] = {{"type", "array"}, {"minItems", 1}, {"items", pool}};
    body["$defs"] = {{"pool", schema_of_pool()}};
    body["required"] = json::array{"pools"};
    return schema_document("Configuration of several pools of workers", body);
}

} // namespace skep

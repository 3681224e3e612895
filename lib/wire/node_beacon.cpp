// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/node_beacon.hpp"

#include "core/node_name.hpp"
#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace skep {

namespace json = boost::json;

namespace {

constexpr int beacon_version = 1;
constexpr bus_message_rules rules_of_beacon{node_beacon::most_bytes, beacon_version};
constexpr std::chrono::milliseconds longest_interval = std::chrono::minutes(1);

std::string text_of(const json::value& value) {
    return std::string(value.as_string());
}

std::size_t count_of(const json::object& pool, std::string_view key) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    return std::min(pool.at(key).to_number<std::size_t>(), most);
}

load_view load_of(const json::object& pool) {
    return {count_of(pool, "in_flight"), count_of(pool, "queued"), count_of(pool, "places"),
            pool.at("can_serve").as_bool()};
}

void read(const json_field& field, node_beacon& beacon) {
    if (field.key == "node") {
        beacon.node = text_of(field.value);
    } else if (field.key == "epoch") {
        beacon.epoch = text_of(field.value);
    } else if (field.key == "interval_ms") {
        const std::chrono::milliseconds told(field.value.to_number<std::int32_t>());
        beacon.interval = std::clamp(told, std::chrono::milliseconds(1), longest_interval);
    } else if (field.key == "draining") {
        beacon.is_draining = field.value.as_bool();
    } else if (field.key == "pools") {
        for (const auto& member : field.value.as_object()) {
            beacon.pools.emplace(std::string(member.key()), load_of(member.value().as_object()));
        }
    }
}

} // namespace

std::string encode_beacon(const node_beacon& beacon) {
    const auto interval = std::chrono::duration_cast<std::chrono::milliseconds>(beacon.interval);
    std::string out = R"({"v":)" + std::to_string(beacon_version) + R"(,"node":)";
    append_json_text(out, beacon.node);
    out += R"(,"epoch":)";
    append_json_text(out, beacon.epoch);
    out += R"(,"interval_ms":)" + std::to_string(interval.count());
    out += R"(,"draining":)" + std::string(beacon.is_draining ? "true" : "false") + R"(,"pools":{)";
    const char* comma = "";
    for (const auto& [name, load] : beacon.pools) {
        std::string pool = comma;
        append_json_text(pool, name);
        pool += R"(:{"places":)" + std::to_string(load.places) + R"(,"in_flight":)" +
                std::to_string(load.in_flight) + R"(,"queued":)" + std::to_string(load.queued) +
                R"(,"can_serve":)" + (load.can_serve ? "true}" : "false}");
        if (out.size() + pool.size() + 2 > node_beacon::most_bytes) {
            break;
        }
        out += pool;
        comma = ",";
    }
    return out += "}}";
}

std::optional<node_beacon> decode_beacon(std::string_view message) {
    node_beacon beacon;
    const bool is_readable =
        read_members(message, rules_of_beacon, [&](const json_field& field) { read(field, beacon); });
    const bool is_whole = is_readable && is_node_name(beacon.node) && !beacon.epoch.empty() &&
                          beacon.interval > duration::zero();
    return is_whole ? std::optional(std::move(beacon)) : std::nullopt;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/node_table.hpp"

#include "command/status_table.hpp"
#include "core/exact_ms.hpp"
#include "core/visible_text.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t shown_of_epoch = 8; ///< characters

std::string round_trip_text(const heard_node& node) {
    if (!node.round_trip) {
        return "-";
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.1f ms", exact_ms(*node.round_trip));
    return text;
}

bool is_idle(const node_beacon& beacon) {
    return std::all_of(beacon.pools.begin(), beacon.pools.end(),
                       [](const auto& each) { return each.second.in_flight + each.second.queued == 0; });
}

std::string state_of(const node_beacon& beacon, const load_view& pool) {
    if (beacon.is_draining) {
        return is_idle(beacon) ? "drained" : "drains";
    }
    return pool.can_serve ? "serves" : "cannot serve";
}

/// Returns the line of a node up to its pool.
std::vector<std::string> begin_of_row(const heard_node& node) {
    return {node.beacon.node, visible(node.beacon.epoch.substr(0, shown_of_epoch)), round_trip_text(node)};
}

json::value document_of(const load_view& pool) {
    return json::object{{"places", pool.places},
                        {"in_flight", pool.in_flight},
                        {"queued", pool.queued},
                        {"can_serve", pool.can_serve}};
}

json::value document_of(const heard_node& node) {
    json::object pools;
    for (const auto& [name, load] : node.beacon.pools) {
        pools.emplace(name, document_of(load));
    }
    const auto round_trip = node.round_trip ? json::value(exact_ms(*node.round_trip)) : json::value(nullptr);
    return json::object{{"node", node.beacon.node},
                        {"epoch", node.beacon.epoch},
                        {"draining", node.beacon.is_draining},
                        {"round_trip_ms", round_trip},
                        {"pools", std::move(pools)}};
}

} // namespace

std::string node_table(const std::vector<heard_node>& nodes) {
    std::vector<std::vector<std::string>> rows{
        {"NODE", "EPOCH", "ROUND TRIP", "POOL", "LOAD", "QUEUED", "STATE"}};
    for (const auto& node : nodes) {
        if (node.beacon.pools.empty()) {
            rows.push_back(begin_of_row(node));
        }
        for (const auto& [name, load] : node.beacon.pools) {
            auto row = begin_of_row(node);
            row.push_back(visible(name));
            row.push_back(std::to_string(load.in_flight) + '/' + std::to_string(load.places));
            row.push_back(std::to_string(load.queued));
            row.push_back(state_of(node.beacon, load));
            rows.push_back(std::move(row));
        }
    }
    return align(rows);
}

json::object node_document(const std::vector<heard_node>& nodes) {
    json::array all;
    for (const auto& each : nodes) {
        all.push_back(document_of(each));
    }
    return {{"nodes", std::move(all)}};
}

} // namespace skep

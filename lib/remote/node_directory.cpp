// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_directory.hpp"

#include <algorithm>
#include <chrono>

namespace skep {

namespace {

constexpr int missed_beacons = 3; ///< then a node counts as silent
constexpr duration memory_of_silent = std::chrono::minutes(10);
constexpr duration between_links = std::chrono::milliseconds(100); ///< to one node

bool can_be_taken(const known_node& node, time_point now) noexcept {
    return !node.is_taken && !node.is_draining && node.load.can_serve && now < node.fresh_until &&
           now >= node.usable_at;
}

} // namespace

void known_node::give_back(time_point now) noexcept {
    is_taken = false;
    fresh_until = now;
    usable_at = now + between_links;
}

std::shared_ptr<known_node> node_directory::hear(const node_beacon& beacon, time_point now) {
    const auto load = beacon.pools.find(pool_);
    if (load == beacon.pools.end()) {
        return nullptr;
    }
    auto found = nodes_.find(beacon.node);
    if (found == nodes_.end()) {
        if (nodes_.size() >= most_nodes) {
            return nullptr;
        }
        found = nodes_.emplace(beacon.node, std::make_shared<known_node>()).first;
        found->second->name = beacon.node;
    }
    auto& node = *found->second;
    node.epoch = beacon.epoch;
    node.load = load->second;
    node.is_draining = beacon.is_draining;
    node.fresh_until = now + missed_beacons * beacon.interval;
    return found->second;
}

std::shared_ptr<known_node> node_directory::find(std::string_view name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : found->second;
}

std::shared_ptr<known_node> node_directory::take(time_point now) {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                    [&](const auto& each) { return can_be_taken(*each.second, now); });
    if (found == nodes_.end()) {
        return nullptr;
    }
    found->second->is_taken = true;
    return found->second;
}

std::size_t node_directory::usable(time_point now) const noexcept {
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& each) {
        return each.second->is_taken || can_be_taken(*each.second, now);
    }));
}

void node_directory::purge(time_point now) {
    std::erase_if(nodes_, [&](const auto& each) {
        return !each.second->is_taken && now - each.second->fresh_until > memory_of_silent;
    });
}

} // namespace skep

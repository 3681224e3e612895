// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/check_connection.hpp"

#include "command/node_lookup.hpp"
#include "core/visible_text.hpp"

#include <exception>
#include <string>
#include <utility>

namespace skep {

namespace {

std::string text_of_servers(const nats_options& nats) {
    std::string text = nats.servers.size() > 1 ? "one of " : "";
    for (const auto& each : nats.servers) {
        text += (&each == &nats.servers.front() ? "" : ", ") + each;
    }
    return text;
}

node_survey try_to_look(const node_place& place, duration listening) {
    try {
        return look_for_nodes(place, listening);
    } catch (const std::exception& failure) {
        return {false, failure.what(), {}};
    }
}

/// Returns the text of a connection, or of its problem.
std::string text_of(const node_survey& survey, const nats_options& nats) {
    if (survey.is_connected) {
        return "ok, connected to " + text_of_servers(nats);
    }
    return survey.problem.empty() ? "no connection to " + text_of_servers(nats) : visible(survey.problem);
}

std::string text_of_nodes(const std::vector<heard_node>& nodes, const std::string& pool) {
    std::string text;
    for (const auto& each : nodes) {
        const auto load = each.beacon.pools.find(pool);
        if (load != each.beacon.pools.end()) {
            text += (text.empty() ? "; nodes by load: " : ", ") + each.beacon.node + " " +
                    std::to_string(load->second.in_flight) + '/' + std::to_string(load->second.places);
        }
    }
    return text.empty() ? "; no node has the pool " + pool + " now" : text;
}

} // namespace

check_result check_connection(const node_options& node) {
    const auto found = try_to_look({node.nats, node.domain}, duration::zero());
    return {"nats", found.is_connected, text_of(found, node.nats)};
}

check_result check_place(const remote_place& place) {
    const auto& options = place.options;
    const auto found = try_to_look({options.nats, options.domain}, usual_listening);
    check_result result{"pool " + options.name + ", remote", found.is_connected,
                        text_of(found, options.nats)};
    if (found.is_connected && !found.problem.empty()) { // such as a missing right
        return {std::move(result.what), false, visible(found.problem)};
    }
    if (found.is_connected) {
        result.text += text_of_nodes(found.nodes, options.pool);
    }
    return result;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/check_connection.hpp"

#include "command/node_lookup.hpp"
#include "core/visible_text.hpp"

#include <exception>
#include <ostream>
#include <string>

namespace skep {

namespace {

std::string text_of_servers(const nats_options& nats) {
    std::string text = nats.servers.size() > 1 ? "one of " : "";
    for (const auto& each : nats.servers) {
        text += (&each == &nats.servers.front() ? "" : ", ") + each;
    }
    return text;
}

} // namespace

bool check_connection(const node_options& node, std::ostream& out) {
    node_survey found;
    try {
        found = look_for_nodes({node.nats, node.domain}, duration::zero());
    } catch (const std::exception& failure) {
        found.problem = failure.what();
    }
    if (!found.is_connected) {
        const auto without_cause = "no connection to " + text_of_servers(node.nats);
        out << "nats: " << (found.problem.empty() ? without_cause : visible(found.problem)) << '\n';
        return false;
    }
    out << "nats: ok, connected to " << text_of_servers(node.nats) << '\n';
    return true;
}

} // namespace skep

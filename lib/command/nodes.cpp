// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/nodes.hpp"

#include "command/node_admin.hpp"
#include "command/node_lookup.hpp"
#include "command/node_table.hpp"
#include "command/say.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/node_name.hpp"

#include <boost/json/serialize.hpp>

#include <iostream>
#include <optional>

namespace skep {

namespace {

int list_nodes(const parsed_words& parsed) {
    if (parsed.has("--timeout")) {
        throw usage_error("--timeout is for drain, undrain and restart");
    }
    const auto listening = duration_in(parsed, "--wait", usual_listening);
    const auto place = read_node_place(parsed.operands.front());
    const auto found = look_for_nodes(place, listening);
    expect_connection(found.is_connected, found.problem);
    if (!found.problem.empty()) {
        say(found.problem);
    }
    if (parsed.has("--json")) {
        std::cout << boost::json::serialize(node_document(found.nodes)) << '\n';
    } else {
        std::cout << node_table(found.nodes);
    }
    if (found.nodes.empty()) {
        say("no node of the domain " + place.domain + " has answered");
    }
    return 0;
}

int ask_one_node(const parsed_words& parsed) {
    if (parsed.has("--json") || parsed.has("--wait")) {
        throw usage_error("--json and --wait are for the list of nodes");
    }
    const auto& action_name = parsed.operands[1];
    const auto& node = parsed.operands[2];
    const auto action = node_action_of(action_name);
    if (!action) {
        throw usage_error("a node can drain, undrain and restart, not " + action_name);
    }
    if (!is_node_name(node)) {
        throw usage_error("the name of a node " + std::string(node_name_rule));
    }
    std::optional<duration> limit;
    if (parsed.has("--timeout")) {
        limit = duration_in(parsed, "--timeout", {});
    }
    return administer_node(read_node_place(parsed.operands.front()), *action, node, limit);
}

} // namespace

int use_nodes(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {{"--json"}, {"--wait", true}, {"--timeout", true}});
    switch (parsed.operands.size()) {
    case 1: return list_nodes(parsed);
    case 3: return ask_one_node(parsed);
    default: throw usage_error("CONFIG is needed, or CONFIG, an action and the name of a node");
    }
}

} // namespace skep

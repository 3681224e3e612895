// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/nodes.hpp"

#include "command/admin_client.hpp"
#include "command/config_files.hpp"
#include "command/node_lookup.hpp"
#include "command/node_table.hpp"
#include "command/say.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/visible_text.hpp"

#include <boost/json/serialize.hpp>

#include <chrono>
#include <iostream>

namespace skep {

namespace {

constexpr duration usual_wait = std::chrono::milliseconds(300);

node_survey find_nodes(const node_place& place, duration listening) {
    auto found = look_for_nodes(place, listening);
    if (!found.is_connected) {
        throw service_unreachable(found.problem.empty() ? "there is no connection to a NATS server"
                                                        : visible(found.problem));
    }
    return found;
}

} // namespace

int list_nodes(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {{"--json"}, {"--wait", true}});
    if (parsed.operands.size() != 1) {
        throw usage_error("one CONFIG is needed");
    }
    const auto listening = duration_in(parsed, "--wait", usual_wait);
    const auto place = read_node_place(parsed.operands.front());
    const auto found = find_nodes(place, listening);
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

} // namespace skep

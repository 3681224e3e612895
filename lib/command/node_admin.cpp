// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/node_admin.hpp"

#include "command/admin_client.hpp"
#include "command/bus_run.hpp"
#include "command/node_lookup.hpp"
#include "command/say.hpp"
#include "core/duration_text.hpp"
#include "core/visible_text.hpp"
#include "remote/node_asker.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

namespace skep {

namespace {

duration usual_limit(node_action action) {
    using namespace std::chrono_literals;
    return action == node_action::restart ? duration(10min) : duration(10s);
}

request_outcome ask(const node_place& place, node_action action, const std::string& node, duration limit) {
    request_plan plan;
    plan.domain = place.domain;
    plan.node = node;
    plan.action = action;
    plan.inbox = place.nats.inbox;
    plan.connect_limit = connect_limit_of(place.nats);
    plan.answer_limit = limit;
    return run_on_bus<request_outcome>(place.nats, [&](const strand& executor, bus_factory connect) {
        return ask_node(executor, std::move(plan), std::move(connect));
    });
}

/// Says which nodes there are instead.
std::string text_of_missing(const node_place& place, const std::string& node) {
    const auto nodes = look_for_nodes(place, usual_listening).nodes;
    const auto is_it = [&](const heard_node& each) { return each.beacon.node == node; };
    if (std::any_of(nodes.begin(), nodes.end(), is_it)) {
        return "node " + node + " takes no requests: its user lacks the right, or its version is too old";
    }
    std::string text = "there is no node " + node + " in the domain " + place.domain;
    const char* separator = "; there are: ";
    for (const auto& each : nodes) {
        text += std::exchange(separator, ", ") + each.beacon.node;
    }
    return text;
}

} // namespace

int administer_node(const node_place& place, node_action action, const std::string& node,
                    std::optional<duration> limit) {
    const auto patience = limit.value_or(usual_limit(action));
    const auto outcome = ask(place, action, node, patience);
    expect_connection(outcome.is_connected, outcome.problem);
    if (outcome.answer) {
        const auto text = "node " + node + ": " + visible(outcome.answer->text);
        if (!outcome.answer->is_done) {
            say(text);
            return 1;
        }
        std::cout << text << '\n';
        return 0;
    }
    if (!outcome.problem.empty()) {
        throw service_unreachable(visible(outcome.problem));
    }
    say(outcome.is_missing ? text_of_missing(place, node)
                           : "node " + node + " has not answered within " + to_text(patience));
    return 1;
}

} // namespace skep

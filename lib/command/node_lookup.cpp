// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/node_lookup.hpp"

#include "command/admin_client.hpp"
#include "command/bus_run.hpp"
#include "core/visible_text.hpp"

#include <utility>

namespace skep {

node_survey look_for_nodes(const node_place& place, duration listening) {
    survey_plan plan;
    plan.domain = place.domain;
    plan.inbox = place.nats.inbox;
    plan.connect_limit = connect_limit_of(place.nats);
    plan.listening = listening;
    return run_on_bus<node_survey>(place.nats, [&](const strand& executor, bus_factory connect) {
        return survey_nodes(executor, std::move(plan), std::move(connect));
    });
}

void expect_connection(bool is_connected, const std::string& problem) {
    if (!is_connected) {
        throw service_unreachable(problem.empty() ? "there is no connection to a NATS server"
                                                  : visible(problem));
    }
}

} // namespace skep

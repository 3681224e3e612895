// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/node_lookup.hpp"

#include "remote/nats_connector.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace skep {

namespace {

/// So that the cause of a failed attempt is known in time.
constexpr duration beyond_attempt = std::chrono::milliseconds(500);

survey_plan plan_for(const node_place& place, duration listening) {
    const auto attempts = static_cast<duration::rep>(place.nats.servers.size());
    survey_plan plan;
    plan.domain = place.domain;
    plan.inbox = place.nats.inbox;
    plan.connect_limit = attempts * (place.nats.connect_timeout + beyond_attempt);
    plan.listening = listening;
    return plan;
}

} // namespace

node_survey look_for_nodes(const node_place& place, duration listening) {
    asio::io_context context(1);
    const strand executor = asio::make_strand(pool_executor(context.get_executor()));
    auto looking = survey_nodes(executor, plan_for(place, listening), connect_by_nats(place.nats));
    node_survey found;
    std::exception_ptr failure;
    asio::co_spawn(executor, std::move(looking), [&](const std::exception_ptr& problem, node_survey survey) {
        failure = problem;
        found = std::move(survey);
    });
    context.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return found;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/hub_driver.hpp"
#include "wire/node_beacon.hpp"
#include <skep/export.hpp>
#include <skep/time.hpp>

#include <optional>
#include <string>
#include <vector>

namespace skep {

/// The rules of a survey.
struct survey_plan {
    std::string domain = "default";
    std::string inbox = "_INBOX"; ///< the beginning of the subject for answers
    duration connect_limit{};     ///< for the connection to the bus
    duration listening{};         ///< for the answers, from the connection on
};

/// A node that a survey has heard.
struct heard_node {
    node_beacon beacon;                 ///< the last one
    std::optional<duration> round_trip; ///< until the first answer; empty: the node has announced itself only
};

/// The outcome of a survey.
struct node_survey {
    bool is_connected = false;     ///< in time
    std::string problem;           ///< the last one: of connecting, or a refusal by the bus; may be empty
    std::vector<heard_node> nodes; ///< by name. Nodes of one name have different epochs
};

/// Connects to the bus, asks all nodes of the domain for their beacons, collects the beacons and closes the
/// connection. Runs on `executor`.
/// Cancellation (terminal): throws operation_aborted.
SKEP_API asio::awaitable<node_survey> survey_nodes(strand executor, survey_plan plan, bus_factory connect);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/node_survey.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace skep {

/// Returns nodes as a table for people, with a line for each pool of a node.
std::string node_table(const std::vector<heard_node>& nodes);

/// Returns nodes as a document for programs: {"nodes": [{"node", "epoch", "draining", "round_trip_ms",
/// "pools": {NAME: {"places", "in_flight", "queued", "can_serve"}}}]}. `round_trip_ms` is null for a node
/// without an answer.
boost::json::object node_document(const std::vector<heard_node>& nodes);

} // namespace skep

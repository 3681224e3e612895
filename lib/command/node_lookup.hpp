// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "command/node_place.hpp"
#include "remote/node_survey.hpp"
#include <skep/time.hpp>

#include <chrono>
#include <string>

namespace skep {

/// The time in which nodes answer as a rule.
inline constexpr duration usual_listening = std::chrono::milliseconds(300);

/// Connects to a server, and listens to the nodes for that time. Blocks: for connect_timeout and 500 ms more
/// for each server at most, as long as there is no connection. See survey_nodes().
node_survey look_for_nodes(const node_place& place, duration listening);

/// Throws service_unreachable, with the problem, unless there was a connection.
void expect_connection(bool is_connected, const std::string& problem);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "command/node_place.hpp"
#include "wire/node_request.hpp"
#include <skep/time.hpp>

#include <optional>
#include <string>

namespace skep {

/// Asks a node, and prints its answer. Without `limit`, waits for 10 s, for a restart for 10 min. Returns the
/// exit status.
/// Throws service_unreachable: there is no connection, or the server refuses the request.
int administer_node(const node_place& place, node_action action, const std::string& node,
                    std::optional<duration> limit);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "command/check.hpp"
#include <skep/node_options.hpp>
#include <skep/pool_manager.hpp>

namespace skep {

/// Tries to connect to a NATS server of the node. Good with a connection.
check_result check_connection(const node_options& node);

/// Connects to a NATS server of the place, and says which nodes have the pool. Good with a connection and
/// the right to see nodes, also without a node: nodes may come later.
check_result check_place(const remote_place& place);

} // namespace skep

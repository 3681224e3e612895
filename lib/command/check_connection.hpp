// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/node_options.hpp>

#include <iosfwd>

namespace skep {

/// Tries to connect to a NATS server of the node. Writes the result to `out`. Returns true with a connection.
bool check_connection(const node_options& node, std::ostream& out);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// `skep nodes`: lists the nodes of the domain that a configuration reaches, or has one of them drain, serve
/// again or replace its workers. Returns the exit status.
/// Throws service_unreachable if there is no connection to a server.
int use_nodes(const std::vector<std::string>& words);

} // namespace skep

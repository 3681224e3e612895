// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/nats_options.hpp>

#include <string>

namespace skep {

/// The place of nodes: the servers, and the domain.
struct node_place {
    nats_options nats;
    std::string domain;
};

/// Reads a file with the configuration of a node, as for `skep serve`, of pools with "remote", the first of
/// which counts, or of a client: a document for remote_options::from_json.
/// Throws error(errc::invalid_config); usage_error if there are pools, but no place of nodes.
node_place read_node_place(const std::string& path);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/load_view.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace skep {

/// A snapshot of a node_agent.
struct node_status {
    std::string name;          ///< as in node_options::name, or the host's name
    std::string epoch;         ///< another with each start(); empty before and after
    bool is_connected = false; ///< to a server
    bool is_draining = false;  ///< the node takes no more clients
    std::string problem;       ///< the cause of a missing connection, for people
    std::size_t links = 0;     ///< clients
    std::size_t calls = 0;     ///< of clients, that run or wait
    std::map<std::string, load_view, std::less<>> pools; ///< loads of the offered pools, by name
};

} // namespace skep

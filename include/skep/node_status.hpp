// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/link_counters.hpp>
#include <skep/load_view.hpp>
#include <skep/time.hpp>

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace skep {

/// One client of a node in a snapshot of the node.
struct client_view {
    std::string name;      ///< of the client's pool, as the client says
    std::string pool;      ///< the pool of the node that the client uses
    std::size_t calls = 0; ///< that run or wait
    std::size_t bytes = 0; ///< memory for input and for answers that the client has not acknowledged
    duration round_trip{}; ///< of a message and its acknowledgement, smoothed; 0 = not measured yet
    duration uptime{};     ///< time since the link was opened
};

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
    std::uint64_t reconnects = 0;                        ///< connections after the first one
    link_counters link_counts;                           ///< of all links since start()
    std::vector<client_view> clients;                    ///< the links with the most calls, at most 100
};

/// Returns the snapshot as JSON, for an admin endpoint or a log. Members have the names above; durations have
/// the suffix _ms.
SKEP_API boost::json::object to_json(const node_status& status);

} // namespace skep

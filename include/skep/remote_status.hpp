// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/link_counters.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// The state of a node, as a client sees the node.
enum class node_state {
    opening,     ///< the client opens a link to the node, or is about to
    linked,      ///< takes calls
    trial,       ///< has a link after an ejection, and gets one call at a time until it has answered a call
    draining,    ///< finishes its calls, and takes no more
    unavailable, ///< no worker of its pool is up
    silent,      ///< has not told its load for three intervals, or not since its last link has ended
    ejected      ///< gets no link for a time, because links to it were lost
};
/// Number of states.
inline constexpr std::size_t node_state_count = 7;

/// Returns the name of the enumerator, such as "linked".
SKEP_API std::string_view to_string(node_state state) noexcept;

/// One node in a snapshot of a remote_pool.
struct node_view {
    std::string name;                      ///< as in node_options::name
    std::string epoch;                     ///< another with each start of the node
    node_state state = node_state::silent; ///< as this client sees the node
    std::optional<worker_id> worker;       ///< the worker that the link to the node is; empty without a link
    std::size_t places = 0;                ///< calls that the node runs at a time, as the node has told last
    std::size_t calls = 0;       ///< calls of all clients that run or wait there, as the node has told last
    std::size_t own_calls = 0;   ///< calls of this pool at the node
    duration round_trip{};       ///< of a message and its acknowledgement, smoothed; 0 = not measured yet
    std::uint64_t ejections = 0; ///< number of ejections by this client
    std::optional<duration> ejected_for; ///< ejected node: time until its next link
};

/// The nodes of a remote_pool, and the connection to them, in a snapshot of status().
struct remote_status {
    bool is_connected = false;    ///< to a server
    std::uint64_t reconnects = 0; ///< connections after the first one
    link_counters links;          ///< of all links since the construction of the pool
    std::vector<node_view> nodes; ///< by name; a node that has been silent for ten minutes is forgotten
};

} // namespace skep

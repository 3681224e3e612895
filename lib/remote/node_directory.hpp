// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/node_beacon.hpp"
#include <skep/time.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace skep {

/// A node with the pool that a client uses.
struct known_node {
    /// Ends the use for a worker, whose link has ended. The node must be heard again before its next link.
    void give_back(time_point now) noexcept;

    std::string name;
    std::string epoch;
    load_view load;
    bool is_draining = false;
    bool is_taken = false;    ///< has a worker of the client's pool
    std::string link{};       ///< the subject of its last link
    time_point fresh_until{}; ///< unless it is heard again
    time_point usable_at{};   ///< not before: a link to the node has ended
};

/// The nodes that a client has heard of, by their beacons.
class node_directory {
public:
    /// The most nodes; further ones are ignored.
    static constexpr std::size_t most_nodes = 10'000;

    explicit node_directory(std::string pool) : pool_(std::move(pool)) {}

    /// Enters what a node tells. Returns the node, or null if the node does not have the pool.
    std::shared_ptr<known_node> hear(const node_beacon& beacon, time_point now);

    /// Returns null for an unknown node.
    std::shared_ptr<known_node> find(std::string_view name) const;

    /// Takes a node for a worker. Returns null if there is none.
    std::shared_ptr<known_node> take(time_point now);

    /// Returns the number of nodes that have a worker, or could have one.
    std::size_t usable(time_point now) const noexcept;

    /// Removes the nodes that have been silent for long.
    void purge(time_point now);

private:
    std::string pool_;
    std::map<std::string, std::shared_ptr<known_node>, std::less<>> nodes_; ///< by name
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace skep {

/// The number of a node: its index in the order of its discovery.
using node_number = std::uint32_t;

/// The load of a node, as far as a client knows.
struct node_load {
    std::uint32_t places = 0; ///< calls that the node runs at a time; 0: the node takes no calls
    std::uint32_t told = 0;   ///< calls that run or wait there, as the node told last
    std::uint32_t sent = 0;   ///< own calls sent since
    duration round_trip{};
};

/// Chooses the node of a call. Looks at two nodes, drawn in proportion to their places, and takes the node
/// with the lower load per place. Loads are known late: if each client took the best of all nodes, all
/// clients would take the same node.
class node_choice {
public:
    /// Uniform in [0, 1).
    using random_source = std::function<double()>;

    /// Enters or changes a node.
    void set(node_number node, const node_load& load);

    /// Returns the load of a node. Precondition: the node was entered.
    const node_load& load_of(node_number node) const noexcept { return loads_[node]; }

    /// Counts a call that was sent to the node. Precondition: the node was entered.
    void count_sent(node_number node) noexcept { ++loads_[node].sent; }

    /// Returns a node with places, or nullopt if there is none. `busy`: nodes to leave out, a few at most.
    std::optional<node_number> pick(const random_source& random, std::span<const node_number> busy = {});

    /// Returns the load per place with one call more.
    static double score(const node_load& load) noexcept {
        return (static_cast<double>(load.told) + load.sent + 1) / load.places;
    }

private:
    /// A column of the alias table: the node itself below the threshold, another node above.
    struct column {
        node_number node = 0;
        node_number other = 0;
        double threshold = 1;
    };

    bool may_be_picked(node_number node, std::span<const node_number> busy) const noexcept;
    void make_table();
    void forget_absent() noexcept;
    std::optional<node_number> draw(const random_source& random, std::span<const node_number> busy) const;
    std::optional<node_number> find_least(std::span<const node_number> busy) const noexcept;
    bool is_better(node_number a, node_number b) const noexcept;

    std::vector<node_load> loads_; ///< by node
    std::vector<std::uint32_t>
        shares_; ///< by node, the places in table_; a node without places keeps its share
    std::vector<column> table_;
    bool is_stale_ = false;    ///< table_, as places have changed
    std::size_t searches_ = 0; ///< of all nodes, since forget_absent()
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/deadline_heap.hpp"
#include "policy/node_ejection.hpp"
#include "wire/node_beacon.hpp"
#include <skep/remote_status.hpp>
#include <skep/time.hpp>

#include <boost/intrusive/set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace skep {

/// How a node counts among the others.
enum class node_standing { absent, well, ejected };

/// The arrival of a node, or the cause of its departure.
enum class node_passage {
    joined,
    drained,  ///< takes no more calls, and has no link
    silent,   ///< has not told its load for three intervals, and has no link
    restarted ///< has another epoch; joins at once
};

/// A node with the pool that a client uses. node_directory changes it.
struct known_node : boost::intrusive::set_base_hook<>, deadline_node {
    std::string name;
    std::string epoch;
    load_view load;
    bool is_draining = false;
    bool is_taken = false;      ///< has a worker of the client's pool
    bool is_stranger = true;    ///< has accepted no link: any program that may tell loads can invent a node
    std::string link{};         ///< the subject of its last link
    time_point taken_at{};      ///< for that link
    time_point fresh_until{};   ///< unless it is heard again
    time_point present_until{}; ///< likewise; the end of a link does not matter
    bool is_present = false;    ///< has joined, and not left
    time_point usable_at{};     ///< not before: a link to the node has ended, or links to it were lost
    node_ejection ejection;
    std::uint64_t ejections = 0;
    node_standing standing = node_standing::absent;
};

/// Returns the state of the node for people. `has_link`: its link is open.
node_state state_of(const known_node& node, bool has_link, time_point now) noexcept;

/// The nodes that a client has heard of, by their beacons. Complexity: O(log n) in the number of nodes for
/// every function.
///
/// A node that is ejected is not taken until its time is over, and has no link until then: its last link has
/// ended. The next link is the trial.
class node_directory {
public:
    /// The most nodes; further ones are ignored.
    static constexpr std::size_t most_nodes = 10'000;

    /// Receives the node whenever it joins or leaves. Must not throw, or use the directory.
    using passage_handler = std::function<void(const known_node&, node_passage)>;

    explicit node_directory(std::string pool, passage_handler on_passage = {})
        : pool_(std::move(pool)), on_passage_(std::move(on_passage)) {}
    ~node_directory() { ready_.clear(); }
    node_directory(const node_directory&) = delete;
    node_directory& operator=(const node_directory&) = delete;

    /// Enters what a node tells. Returns the node, or null if the node does not have the pool.
    std::shared_ptr<known_node> hear(const node_beacon& beacon, time_point now);

    /// Returns null for an unknown node.
    std::shared_ptr<known_node> find(std::string_view name) const;

    /// Returns the node of the rendezvous for a session, among the nodes that serve by their own word. Links
    /// and ejections do not count: they differ from client to client. Empty without a node. O(n).
    std::string choose(std::string_view session, time_point now) const;

    /// Takes a node for a worker. Returns null if there is none.
    std::shared_ptr<known_node> take(time_point now);

    /// Ends the use of a taken node, whose link has ended. The node must be heard again before its next link.
    /// `is_lost`: see node_ejection. Returns true if the node is ejected.
    bool give_back(known_node& node, bool is_lost, time_point now) noexcept;

    /// The taken node has answered a call. Returns true if the node was on trial.
    bool answered(known_node& node, time_point now) noexcept;

    /// Returns true if take() would return a node.
    bool has_ready(time_point now) noexcept;

    /// Returns the number of nodes that have a worker, or could have one.
    std::size_t usable(time_point now) noexcept;

    /// Calls `function(node)` for each known node, by name.
    template <class Function>
    void for_each(const Function& function) const {
        for (const auto& each : nodes_) {
            function(*each.second);
        }
    }

    /// Returns the number of nodes that have been heard, and not been silent for long since.
    std::size_t known(time_point now) noexcept;

private:
    struct name_order {
        bool operator()(const known_node& a, const known_node& b) const noexcept { return a.name < b.name; }
    };

    void follow_time(time_point now) noexcept;
    void sort_in(known_node& node, time_point now) noexcept;
    void report_passage(known_node& node, time_point now) noexcept;
    void pass(known_node& node, node_passage passage) noexcept;
    void remove(known_node& node) noexcept;
    std::size_t& count_of(node_standing standing) noexcept {
        return counts_[static_cast<std::size_t>(standing)];
    }
    bool may_eject() noexcept;

    std::string pool_;
    passage_handler on_passage_;
    std::map<std::string, std::shared_ptr<known_node>, std::less<>> nodes_;          ///< by name
    boost::intrusive::set<known_node, boost::intrusive::compare<name_order>> ready_; ///< to be taken
    deadline_heap changes_; ///< for each node, the time of its next change without a beacon
    std::size_t taken_ = 0;
    std::array<std::size_t, 3> counts_{}; ///< nodes, by standing
};

} // namespace skep

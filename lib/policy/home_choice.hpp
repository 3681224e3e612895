// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/keyed_digest.hpp"
#include <skep/affinity.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The outcome of the question to the nodes which of them has a session.
struct home_report {
    bool was_asked = false;   ///< false if the bus was down
    std::string node;         ///< that has the session; empty if no node has said so in time
    bool is_draining = false; ///< the node
};

/// The next step of a client for a session that has no node there yet.
enum class home_step {
    ask_again,
    go_to_node,  ///< that has the session
    meet_others, ///< at the node of the rendezvous
    go_anywhere  ///< to any node
};

/// `is_strict`: a call of the session insists on one node. With affinity_on_recycle::wait, such a call waits
/// for a node that drains: the node serves again, or its end frees the session.
inline home_step home_step_of(const home_report& report, bool is_strict, affinity_on_recycle rule) noexcept {
    if (!report.was_asked) {
        return home_step::ask_again;
    }
    const bool is_usable = !report.is_draining || (is_strict && rule == affinity_on_recycle::wait);
    if (!report.node.empty() && is_usable) {
        return home_step::go_to_node;
    }
    return is_strict ? home_step::meet_others : home_step::go_anywhere;
}

/// Chooses a node for a session by the highest hash of node and session (rendezvous hashing). Clients with
/// the same nodes choose the same node; a node that comes or goes moves only the sessions of that node.
class rendezvous {
public:
    /// `session` must live as long as the choice.
    explicit rendezvous(std::string_view session) noexcept : session_(session) {}

    /// Takes part in the choice. The order of the nodes does not matter.
    void offer(std::string_view node);

    /// Returns the chosen node; empty without a node.
    const std::string& winner() const noexcept { return winner_; }

private:
    std::string_view session_;
    std::string winner_;
    std::optional<keyed_digest::value> highest_;
};

} // namespace skep

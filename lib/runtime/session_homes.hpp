// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/home_choice.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace skep {

/// The port to the nodes of sessions that other programs may have begun. Used on the strand.
class session_homes {
public:
    /// Asks for the node that has the session, for at most about a second.
    virtual boost::asio::awaitable<home_report> ask(std::string session) = 0;

    /// Returns the node of the rendezvous; empty without a node. Clients that see the same nodes choose the
    /// same node. Complexity: linear in the number of nodes.
    virtual std::string choose(const std::string& session) const = 0;

    /// Tells the nodes to forget the session. Best effort.
    virtual void forget(const std::string& session) = 0;

protected:
    ~session_homes() = default;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/node_status.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace skep {

/// A node as its observers see it, such as an admin_server: the interface of node_agent.
class SKEP_API observed_node {
public:
    virtual ~observed_node();

    /// Returns the executor on which status() is to run.
    virtual boost::asio::any_io_executor get_executor() const noexcept = 0;

    /// Returns a snapshot of the node.
    virtual boost::asio::awaitable<node_status> status() = 0;

protected:
    observed_node() = default;
    observed_node(const observed_node&) = default;
    observed_node& operator=(const observed_node&) = default;
};

} // namespace skep

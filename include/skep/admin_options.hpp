// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <cstddef>
#include <string>

namespace skep {

class observed_node;

/// Options of an admin_server.
struct SKEP_API admin_options {
    /// An IP address of this machine. On an address other than loopback, every client that reaches it sees
    /// everything.
    std::string address = "127.0.0.1";
    unsigned short port = 0; ///< 0 = a free port: see admin_server::port

    /// Clients with this token may restart, suspend, resume and resize, make calls, read stacks and measure
    /// memory. 16..256 visible ASCII characters; empty = no client may. Clients send the token unencrypted:
    /// put TLS in front of the server if clients are on other machines.
    std::string token;

    /// Connections at a time, 1..10,000. A further connection replaces the connection that has waited longest
    /// for its client: for a whole request, or until the client has read an answer. If all connections have a
    /// request in progress, the new connection waits.
    std::size_t connections = 256;

    /// A node_agent of this program, whose clients are shown; null = none. Must live until the server is
    /// stopped or destroyed.
    observed_node* node = nullptr;

    /// Checks each field.
    /// Throws error(errc::invalid_config) with all problems, each with field, value and rule.
    void validate() const;
};

} // namespace skep

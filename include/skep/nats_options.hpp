// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace skep {

/// Addresses of the NATS servers, the identity of the program, and limits.
struct nats_options {
    /// 1..64 servers of one cluster, each "nats://HOST:PORT" or "tls://HOST:PORT"; the port is 4222 if
    /// absent, an IPv6 address is in brackets. "tls" demands TLS 1.2 or later; "nats" uses TLS if the server
    /// asks for it. Tried in random order. Servers that the cluster announces are tried as well.
    std::vector<std::string> servers{"nats://127.0.0.1:4222"};

    // One way to authenticate at most. Files are read at each connect.
    std::string user;           ///< needs a password; empty: no user
    std::string password;       ///< of the user; without TLS, sent in clear text
    std::string token;          ///< a secret of all programs, instead of users
    std::string nkey_seed_file; ///< holds the seed of a user, "SU..."
    std::string creds_file;     ///< holds the JWT and the seed of a user

    // PEM. Read at each connect; need a server with "tls".
    std::string ca_file;          ///< the trusted authorities; empty: the system's
    std::string certificate_file; ///< for a server that requires it, with its chain; empty: none
    std::string key_file;         ///< the key of that certificate
    bool tls_first = false;       ///< begins with TLS, before the server's greeting; needs cnats 3.9

    /// Beginning of the subjects for answers, 1..128 bytes, for permissions. Of a node: the beginning of the
    /// subjects of all its clients.
    std::string inbox = "_INBOX";

    /// Limit for connecting to a server, and for a server that takes no bytes, 10 ms..1 min.
    duration connect_timeout = std::chrono::seconds(2);

    /// Interval of the signs of life, 50 ms..10 min. A server is lost if two are unanswered when the next is
    /// due.
    duration ping_interval = std::chrono::seconds(5);

    /// Wait after a loss, 1 ms..1 min, varied by up to half. After each failure the wait doubles, up to 2 s.
    duration reconnect_wait = std::chrono::milliseconds(50);

    /// Bytes that may wait to be sent, 64 KiB..1 GiB; further messages are lost. One message may always wait.
    std::size_t send_buffer = 16u << 20;
};

} // namespace skep

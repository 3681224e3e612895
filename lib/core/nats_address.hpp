// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The address of a NATS server.
struct nats_address {
    std::string url;  ///< "nats://HOST:PORT"
    std::string host; ///< name or address, for TLS; without brackets
    bool has_tls = false;

    /// The same server: by `url`.
    friend bool operator==(const nats_address& left, const nats_address& right) noexcept {
        return left.url == right.url;
    }
};

/// Reads "nats://HOST:PORT" or "tls://HOST:PORT"; the port is 4222 if absent. Returns nullopt for another
/// text, such as one with a user and a password.
std::optional<nats_address> parse_nats_address(std::string_view url);

} // namespace skep

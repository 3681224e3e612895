// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Names on the command line: the service, its pools and workers.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The address of an admin port.
struct admin_url {
    std::string host; ///< without the brackets of an IPv6 address
    std::string port;

    /// Returns "HOST:PORT", for the Host header and messages.
    std::string authority() const;
};

/// Parses "http://HOST:PORT/" or "HOST:PORT".
/// Throws usage_error: another scheme, a user, a path, or no port.
admin_url parse_admin_url(std::string_view text);

/// A pool, or one of its workers.
struct admin_target {
    std::string pool;
    std::optional<std::uint32_t> slot;
    std::optional<std::uint64_t> generation; ///< empty: the present worker of the slot
};

/// Parses "POOL", "POOL/SLOT" or "POOL/SLOT#GENERATION". Throws usage_error.
admin_target parse_admin_target(std::string_view text);

} // namespace skep

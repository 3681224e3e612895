// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "command/admin_address.hpp"
#include <skep/time.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace skep {

/// The service cannot be reached, or does not accept the token: the program exits with 3.
class service_unreachable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The answer of an admin port.
struct admin_answer {
    unsigned status = 0;
    std::string body;

    bool is_good() const noexcept { return status == 200; }
};

/// Talks to an admin port, with a connection per request. Blocks.
class admin_client {
public:
    /// `token`: see admin_options::token; empty without one.
    /// Throws usage_error, without the token in its text, if the token breaks its rule.
    admin_client(admin_url service, std::string token);

    /// Both throw service_unreachable. A get() has ten seconds. A post() has ten seconds beyond `limit`;
    /// without a limit, it waits until the service has answered: changes may take long.
    admin_answer get(const std::string& path) const;
    admin_answer post(const std::string& path, const std::string& body = "",
                      std::optional<duration> limit = {}) const;

private:
    admin_url where_;
    std::string token_;
};

} // namespace skep

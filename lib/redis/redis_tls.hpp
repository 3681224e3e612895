// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/redis_sessions.hpp>

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace skep {

namespace asio = boost::asio;

/// What the TLS of all connections to a server has in common: whom to trust, and whom to expect. The files are read once,
/// by the constructor.
class redis_tls {
public:
    /// Throws error(errc::invalid_config) for a file that cannot be used.
    explicit redis_tls(const redis_options& options);

    asio::ssl::context& context() noexcept { return context_; }

    /// Has a connection that is about to begin ask for the server by its name and accept that name alone. False if that
    /// cannot be had: such a connection would accept any name.
    bool expect_server(::SSL* connection) const;

private:
    asio::ssl::context context_;
    const std::string server_name_;
};

/// Null for a server without TLS.
std::shared_ptr<redis_tls> make_redis_tls(const redis_options& options);

} // namespace skep

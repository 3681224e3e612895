// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/redis_sessions.hpp>

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace skep {

namespace asio = boost::asio;

/// TLS settings shared by all connections to a server: trusted certificates and expected server name. The
/// constructor reads the files once.
class redis_tls {
public:
    /// Throws error(errc::invalid_config) if a file is unusable.
    explicit redis_tls(const redis_options& options);

    asio::ssl::context& context() noexcept { return context_; }

    /// Sets the name of the server to request and to accept, before a connection starts. Returns false if
    /// that fails: such a connection would accept any name.
    bool expect_server(::SSL* connection) const;

private:
    asio::ssl::context context_;
    const std::string server_name_;
};

/// Returns null for a server without TLS.
std::shared_ptr<redis_tls> make_redis_tls(const redis_options& options);

} // namespace skep

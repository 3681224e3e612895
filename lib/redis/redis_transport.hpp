// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "redis/redis_tls.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// Transfers the bytes of one connection, in clear text or with TLS. At most one read and one write at a
/// time. The handlers keep this object alive until they are called. Used on a strand.
class redis_transport {
public:
    using protocol = asio::generic::stream_protocol;
    using end_handler = std::function<void(boost::system::error_code)>;
    using bytes_handler = std::function<void(boost::system::error_code, std::size_t)>;

    /// `tls` is null for clear text.
    redis_transport(const strand& executor, std::shared_ptr<redis_tls> tls);

    /// Connects to the first endpoint that accepts. With TLS, completes after the verification of the server.
    void connect(const std::vector<protocol::endpoint>& endpoints, end_handler on_end);
    void read_some(asio::mutable_buffer room, bytes_handler on_end);
    void write(asio::const_buffer bytes, bytes_handler on_end);

    /// Returns false if the server has closed the connection, or has sent unsolicited data. Preconditions: no
    /// read or write is in progress.
    bool is_quiet();

    /// Ends operations in progress with an error. Sends no TLS shutdown, which would wait for the server;
    /// each reply contains its own length.
    void close() noexcept;

    /// Returns the reason of a failed connect().
    std::string cause_of(const boost::system::error_code& failure);

private:
    using socket = asio::basic_stream_socket<protocol, strand>;

    void shake_hands(end_handler on_end);

    const std::shared_ptr<redis_tls> tls_;
    socket socket_;
    std::optional<asio::ssl::stream<socket&>> stream_; ///< after connecting with TLS
};

} // namespace skep

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

/// Moves the bytes of one connection, in clear text or by TLS. One read and one write may be under way. Whoever is called
/// back keeps this alive until then. On a strand.
class redis_transport {
public:
    using protocol = asio::generic::stream_protocol;
    using end_handler = std::function<void(boost::system::error_code)>;
    using bytes_handler = std::function<void(boost::system::error_code, std::size_t)>;

    /// `tls` is null for clear text.
    redis_transport(const strand& executor, std::shared_ptr<redis_tls> tls);

    /// Connects to the first endpoint that accepts; by TLS once the server has shown that it is the one to be expected.
    void connect(const std::vector<protocol::endpoint>& endpoints, end_handler on_end);
    void read_some(asio::mutable_buffer room, bytes_handler on_end);
    void write(asio::const_buffer bytes, bytes_handler on_end);

    /// False if the server has ended the connection, or has sent what nobody has read. For one at which no read and no
    /// write is under way.
    bool is_quiet();

    /// Ends what is under way by an error. There is no farewell by TLS, which would have to wait for the server; what a reply
    /// is says its own length.
    void close() noexcept;

    /// Why a connect() has failed.
    std::string cause_of(const boost::system::error_code& failure);

private:
    using socket = asio::basic_stream_socket<protocol, strand>;

    void shake_hands(end_handler on_end);

    const std::shared_ptr<redis_tls> tls_;
    socket socket_;
    std::optional<asio::ssl::stream<socket&>> stream_; ///< once connected, by TLS
};

} // namespace skep

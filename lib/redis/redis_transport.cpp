// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_transport.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <exception>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace skep {

using boost::system::error_code;

redis_transport::redis_transport(const strand& executor, std::shared_ptr<redis_tls> tls)
    : tls_(std::move(tls)), socket_(executor) {}

void redis_transport::connect(const std::vector<protocol::endpoint>& endpoints, end_handler on_end) {
    auto on_connected = [this, on_end = std::move(on_end)](error_code ec, const protocol::endpoint&) {
        if (ec) {
            on_end(ec);
            return;
        }
        error_code ignored;
        socket_.set_option(asio::ip::tcp::no_delay(true), ignored); // fails for a Unix socket
        socket_.non_blocking(true, ignored);                        // for is_quiet()
        if (tls_) {
            shake_hands(on_end);
        } else {
            on_end(ec);
        }
    };
    asio::async_connect(socket_, endpoints, std::move(on_connected));
}

void redis_transport::shake_hands(end_handler on_end) {
    try {
        stream_.emplace(socket_, tls_->context());
    } catch (const std::exception&) { // out of memory
        on_end(asio::error::no_memory);
        return;
    }
    if (!tls_->expect_server(stream_->native_handle())) {
        on_end(asio::error::invalid_argument);
        return;
    }
    stream_->async_handshake(asio::ssl::stream_base::client, std::move(on_end));
}

void redis_transport::read_some(asio::mutable_buffer room, bytes_handler on_end) {
    if (stream_) {
        stream_->async_read_some(room, std::move(on_end));
    } else {
        socket_.async_read_some(room, std::move(on_end));
    }
}

void redis_transport::write(asio::const_buffer bytes, bytes_handler on_end) {
    if (stream_) {
        asio::async_write(*stream_, bytes, std::move(on_end));
    } else {
        asio::async_write(socket_, bytes, std::move(on_end));
    }
}

bool redis_transport::is_quiet() {
    char next = 0;
    error_code ec;
    socket_.receive(asio::buffer(&next, 1), asio::socket_base::message_peek, ec);
    return ec == asio::error::would_block;
}

void redis_transport::close() noexcept {
    error_code ignored;
    socket_.close(ignored);
}

std::string redis_transport::cause_of(const error_code& failure) {
    const auto verdict = stream_ ? ::SSL_get_verify_result(stream_->native_handle()) : X509_V_OK;
    if (verdict == X509_V_OK) {
        return failure.message();
    }
    return std::string("the server's certificate is not accepted: ") +
           ::X509_verify_cert_error_string(verdict);
}

} // namespace skep

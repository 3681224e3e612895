// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "http.hpp"
#include <skep/pool_manager.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>

#include <chrono>
#include <list>
#include <memory>

namespace gateway {

/// HTTP in front of pools. On the thread of its executor; its coroutines are to have ended before it does.
class server {
public:
    /// Takes the port, so that what is wrong with it is known at once; 0 chooses one.
    server(const boost::asio::any_io_executor& executor, const boost::asio::ip::tcp::endpoint& where,
           skep::pool_manager& pools);

    unsigned short port() const { return port_; }

    /// Answers requests from now on.
    void begin();

    /// Takes no more connections, closes those there are as soon as their requests are answered, and returns then; false
    /// if some were not within `grace`.
    boost::asio::awaitable<bool> drain(std::chrono::seconds grace);

    /// Closes what is left, a moment after the pools have told it that they are gone.
    boost::asio::awaitable<void> cut_off();

private:
    struct connection {
        explicit connection(boost::asio::ip::tcp::socket socket) : stream(std::move(socket)) {}

        boost::beast::tcp_stream stream;
        boost::beast::flat_buffer buffer;
        bool is_idle = true; ///< between requests
    };
    using connection_ptr = std::shared_ptr<connection>;
    using request_parser = http::request_parser<http::string_body>;

    boost::asio::awaitable<void> accept();
    void accept_backlog();
    void admit(boost::asio::ip::tcp::socket socket);
    boost::asio::awaitable<void> converse(connection_ptr with);
    boost::asio::awaitable<void> serve(connection& with);
    boost::asio::awaitable<void> wait_for_request(connection& with);
    boost::asio::awaitable<bool> serve_request(connection& with);
    boost::asio::awaitable<boost::system::error_code> read(connection& with, request_parser& into);
    boost::asio::awaitable<void> refuse_body(connection& with);
    boost::asio::awaitable<bool> send(connection& with, const http_request& asked, http_response response);
    boost::asio::awaitable<void> wait_for_last(std::chrono::steady_clock::time_point limit);

    skep::pool_manager& pools_;
    boost::asio::ip::tcp::acceptor acceptor_;
    const unsigned short port_;
    boost::asio::steady_timer last_has_ended_;
    std::list<connection_ptr> connections_;
    bool is_draining_ = false;
    bool is_over_ = false; ///< for connections that are idle
};

} // namespace gateway

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "budget.hpp"
#include "http.hpp"
#include <skep/pool_manager.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>

namespace gateway {

/// Serves HTTP in front of pools. Use it on the thread of its executor; its coroutines must end before its
/// destruction.
class server {
public:
    /// Opens the port, and throws if that fails. Port 0 chooses a free port.
    server(const boost::asio::any_io_executor& executor, const boost::asio::ip::tcp::endpoint& where,
           skep::pool_manager& pools, const limits& most);

    unsigned short port() const { return port_; }

    /// Begins to answer requests.
    void begin();

    /// Accepts no more connections, and closes each connection after its requests are answered. Returns true
    /// when all are closed, false if some are left after `grace`.
    boost::asio::awaitable<bool> drain(std::chrono::seconds grace);

    /// Closes the remaining connections, at most a second after the shutdown of the pools, whose last answers
    /// they may still send.
    boost::asio::awaitable<void> cut_off();

private:
    /// A connection waits for: a request, the rest of a request, the call's answer, or the client to take the
    /// answer.
    enum class phase { idle, reading, working, sending };

    struct connection {
        connection(boost::asio::ip::tcp::socket socket, body_budget& bodies);

        boost::beast::tcp_stream stream;
        boost::beast::flat_buffer buffer; ///< bounded, because a parser's limits do not count buffered bytes
        body_budget::share body;
        phase now = phase::idle;
        std::chrono::steady_clock::time_point begun; ///< begin of the phase
        bool is_listed = false;
        std::list<std::shared_ptr<connection>>::iterator place{};
    };
    using connection_ptr = std::shared_ptr<connection>;
    using request_parser = http::request_parser<http::string_body>;

    boost::asio::awaitable<void> accept();
    boost::asio::awaitable<void> wait_for_room();
    bool make_room();
    bool make_room_for_body(connection& of, std::size_t bytes);
    void accept_backlog();
    void admit(boost::asio::ip::tcp::socket socket);
    void enter(connection& with, phase next);
    void close(connection& gone);
    void forget(connection& gone);
    boost::asio::awaitable<void> converse(connection_ptr with);
    boost::asio::awaitable<void> serve(connection& with);
    boost::asio::awaitable<void> wait_for_request(connection& with);
    boost::asio::awaitable<bool> serve_request(connection& with);
    boost::asio::awaitable<bool> serve_stream(connection& with, const http_request& request);
    boost::asio::awaitable<void> see_it_leave(connection& with);
    boost::asio::awaitable<boost::system::error_code> read(connection& with, request_parser& into);
    boost::asio::awaitable<boost::system::error_code> read_body(connection& with, request_parser& into);
    boost::asio::awaitable<void> refuse(connection& with, http_response response);
    boost::asio::awaitable<bool> send(connection& with, const http_request& asked, http_response response);
    boost::asio::awaitable<void> wait_for_last(std::chrono::steady_clock::time_point limit);

    skep::pool_manager& pools_;
    boost::asio::ip::tcp::acceptor acceptor_;
    const unsigned short port_;
    const std::size_t most_connections_;
    body_budget bodies_;
    boost::asio::steady_timer room_; ///< cancelled when a connection ends or begins to wait for its client
    boost::asio::steady_timer last_has_ended_;
    std::list<connection_ptr> connections_; ///< by the time at which they began to wait for their clients
    std::size_t streams_ = 0;
    bool is_draining_ = false;
    bool is_over_ = false; ///< idle connections are closed
};

} // namespace gateway

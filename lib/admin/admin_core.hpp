// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/connection_list.hpp"
#include "admin/feed.hpp"
#include "admin/pool_access.hpp"
#include "admin/remote_runner.hpp"
#include "admin/routes.hpp"
#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include <skep/admin.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstddef>
#include <memory>

namespace skep {

/// Implementation of admin_server: accepts and serves connections. Used on its strand, except for the
/// constructor, begin(), end(), executor() and endpoint().
class admin_server::core : public std::enable_shared_from_this<core> {
public:
    core(const boost::asio::any_io_executor& executor, std::function<pool_access::listing()> pools,
         event_bus& events, admin_options options);

    void begin();

    /// Ends all accesses to pools. The remaining connections close soon.
    void end();

    const strand& executor() const noexcept { return executor_; }
    const boost::asio::ip::tcp::endpoint& endpoint() const noexcept { return endpoint_; }

    /// Closes the acceptor and all connections.
    void close();

    /// Returns when the last connection has ended. Preconditions: close() was called.
    asio::awaitable<void> join() { return tasks_.join(); }

private:
    struct connection : listed_connection {
        explicit connection(boost::asio::ip::tcp::socket socket);

        boost::beast::tcp_stream stream;
        boost::beast::flat_buffer buffer; ///< bounded: the parser's limits do not cover all buffered bytes
    };
    using connection_ptr = std::shared_ptr<connection>;
    using request_parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

    asio::awaitable<void> accept_all();
    asio::awaitable<void> accept_one();
    asio::awaitable<void> wait_for_room();
    bool make_room();
    void admit(boost::asio::ip::tcp::socket socket);
    void forget(connection& ended_connection);
    asio::awaitable<void> converse(connection_ptr new_connection);
    asio::awaitable<void> serve_requests(connection& peer);
    asio::awaitable<bool> serve_request(connection& peer);
    asio::awaitable<boost::system::error_code> read(connection& source, request_parser& parser);
    asio::awaitable<bool> answer(connection& peer, const http_request& query);
    asio::awaitable<bool> send(connection& target, http_response response);
    asio::awaitable<void> send_events(connection& target);

    strand executor_;
    const admin_options options_;
    pool_access pools_;
    const std::shared_ptr<remote_runner> answers_;
    survey survey_;
    feed news_;
    boost::asio::ip::tcp::acceptor acceptor_;
    const boost::asio::ip::tcp::endpoint endpoint_;
    task_group tasks_;
    connection_list connections_;
    condition_variable room_; ///< a connection has ended, or waits for its client
    std::size_t pages_ = 0;   ///< connections with an event stream, open or requested
};

} // namespace skep

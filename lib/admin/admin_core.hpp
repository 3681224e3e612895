// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/feed.hpp"
#include "admin/pool_access.hpp"
#include "admin/routes.hpp"
#include "async/task_group.hpp"
#include <skep/admin.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <list>
#include <memory>

namespace skep {

/// What is behind an admin_server: it takes connections and serves each. On its strand, but for the constructor, begin(),
/// end(), executor() and endpoint().
class admin_server::core : public std::enable_shared_from_this<core> {
public:
    core(const boost::asio::any_io_executor& executor, std::function<pool_access::listing()> pools,
         event_bus& events, admin_options options);

    void begin();

    /// No pool is touched after this. What is left closes soon.
    void end();

    const strand& executor() const noexcept { return executor_; }
    const boost::asio::ip::tcp::endpoint& endpoint() const noexcept { return endpoint_; }

    /// Closes everything.
    void close();

    /// Returns when the last connection has ended, after close().
    asio::awaitable<void> join() { return tasks_.join(); }

private:
    struct connection {
        explicit connection(boost::asio::ip::tcp::socket socket) : stream(std::move(socket)) {}

        boost::beast::tcp_stream stream;
        bool is_idle = true; ///< no request is being answered
    };
    using connection_ptr = std::shared_ptr<connection>;

    asio::awaitable<void> accept();
    void forget(const connection_ptr& gone);
    void admit(boost::asio::ip::tcp::socket socket);
    bool make_room();
    asio::awaitable<void> converse(connection_ptr with);
    asio::awaitable<void> serve_requests(connection& with);
    asio::awaitable<bool> serve_request(connection& with, boost::beast::flat_buffer& buffer);
    asio::awaitable<bool> answer(connection& with, const http_request& asked);
    asio::awaitable<bool> send(connection& to, http_response response);
    asio::awaitable<void> send_events(connection& to);

    strand executor_;
    const admin_options options_;
    pool_access pools_;
    survey survey_;
    feed news_;
    boost::asio::ip::tcp::acceptor acceptor_;
    const boost::asio::ip::tcp::endpoint endpoint_;
    task_group tasks_;
    std::list<connection_ptr> connections_; ///< the oldest first
    std::size_t pages_ = 0;                 ///< of these, those that are told of events
};

} // namespace skep

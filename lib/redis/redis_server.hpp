// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "redis/redis_connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// A server that accepts commands from any thread. Connects at the first command, and again at the first
/// command after the loss of a connection.
class redis_server : public std::enable_shared_from_this<redis_server> {
public:
    using ptr = std::shared_ptr<redis_server>;

    /// Throws error(errc::invalid_config) if a file of the TLS options is unusable.
    redis_server(const asio::any_io_executor& executor, redis_options options);

    /// Sends a command, and returns its reply, which is not a refusal. Throws error: session_backend_failed,
    /// with `operation` and the cause in its text (one cause is the limit of waiting operations); cancelled.
    static asio::awaitable<redis_reply> ask(ptr self, std::string_view operation, std::string command);

    /// Closes the connection soon, and rejects further commands. Afterwards no object of the server is left
    /// in the execution context.
    static void close(const ptr& self) noexcept;

    const redis_options& options() const noexcept { return *options_; }

private:
    using exchange_ptr = redis_connection::exchange_ptr;

    static asio::awaitable<void> perform(ptr self, std::string command, waiting_operations::place place,
                                         redis_outcome& outcome);
    void begin(const exchange_ptr& new_exchange);

    /// Returns a usable connection.
    redis_connection::ptr connection();
    void cancel(const exchange_ptr& unwanted_exchange);

    strand strand_;
    std::shared_ptr<const redis_options> options_;
    std::shared_ptr<redis_tls> tls_;
    std::shared_ptr<waiting_operations> waiting_;
    std::weak_ptr<redis_connection> connection_; ///< latest connection
    redis_connection::ptr idle_;                 ///< the latest connection while nothing else keeps it
    time_point next_connection_;                 ///< time of the next connection at the earliest
    bool is_closed_ = false;
};

} // namespace skep

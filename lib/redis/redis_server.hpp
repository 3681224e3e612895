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

/// The server as one that can be asked, from any thread. It is connected to when somebody asks, and again when somebody
/// asks after the connection was lost.
class redis_server : public std::enable_shared_from_this<redis_server> {
public:
    using ptr = std::shared_ptr<redis_server>;

    /// Throws error(errc::invalid_config) for a file of the TLS options that cannot be used.
    redis_server(const asio::any_io_executor& executor, redis_options options);

    /// The reply to a command, which is no refusal. Throws error: session_backend_failed, whose text names `operation`
    /// and the cause, which may be that too many operations wait already; cancelled.
    static asio::awaitable<redis_reply> ask(ptr self, std::string_view operation, std::string command);

    /// Closes the connection soon, and takes no more commands. So nothing of this is left in the execution context.
    static void close(const ptr& self) noexcept;

    const redis_options& options() const noexcept { return *options_; }

private:
    using exchange_ptr = redis_connection::exchange_ptr;

    static asio::awaitable<void> perform(ptr self, std::string command, waiting_operations::place place,
                                         redis_outcome& outcome);
    void begin(const exchange_ptr& new_exchange);

    /// One that can be used.
    redis_connection::ptr connection();
    void cancel(const exchange_ptr& unwanted_exchange);

    strand strand_;
    std::shared_ptr<const redis_options> options_;
    std::shared_ptr<redis_tls> tls_;
    std::shared_ptr<waiting_operations> waiting_;
    std::weak_ptr<redis_connection> connection_; ///< the latest one
    redis_connection::ptr idle_;                 ///< the same, while nothing else keeps it
    time_point next_connection_;                 ///< not before
    bool is_closed_ = false;
};

} // namespace skep

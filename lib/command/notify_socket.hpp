// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/datagram_protocol.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The socket of the service manager that has started this program, as sd_notify(3) describes it. Without
/// one, messages are dropped.
class notify_socket {
public:
    /// Reads NOTIFY_SOCKET and WATCHDOG_USEC.
    explicit notify_socket(const boost::asio::any_io_executor& executor);

    /// Sends a message, such as "READY=1". Never waits; a message that cannot be sent is dropped.
    void send(std::string_view message);

    /// Returns the longest time between two messages "WATCHDOG=1", if the manager wants any.
    const std::optional<duration>& watchdog() const noexcept { return watchdog_; }

private:
    boost::asio::local::datagram_protocol::socket socket_;
    std::optional<duration> watchdog_;
};

} // namespace skep

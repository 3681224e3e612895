// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

/// A message that the bus delivers. Valid during the call of bus_user::on_message().
struct bus_message {
    std::string_view subject;
    std::string_view reply; ///< subject for the answers; empty if none is expected
    std::string_view body;
    bool has_no_receiver = false; ///< report of the bus: no receiver of the message with the reply `subject`
};

/// The program behind a connection to a bus.
class bus_user {
public:
    virtual void on_message(const bus_message& message) = 0;

    /// Reports that the connection is up, or down. Subscriptions outlive a loss of the connection; messages
    /// do not.
    virtual void on_connection(bool is_up) = 0;

    /// Reports the cause of a missing connection, or a refusal by the broker.
    virtual void on_problem(const std::string&) {}

protected:
    ~bus_user() = default;
};

/// The port to a broker of messages: one connection. A message goes to every subscription whose subject fits,
/// in order, at most once as a rule; it may be lost, or delivered late. Used on one executor, on which the
/// bus also calls its user; no function calls the user before it returns.
class bus {
public:
    virtual ~bus() = default;

    /// Sends `head` and `body` as one message. Never waits; keeps no message while the connection is down.
    /// `reply`: the subject for answers and for the report that there is no receiver.
    /// Precondition: head and body together have at most max_payload() bytes.
    virtual void publish(std::string_view subject, std::string_view reply, std::string_view head,
                         std::string_view body) = 0;

    /// Subscribes to `subject`, whose last part may be `*` for any one part.
    virtual void subscribe(std::string_view subject) = 0;
    virtual void unsubscribe(std::string_view subject) = 0;

    virtual bool is_up() const noexcept = 0;

    /// The bus is down while its largest message has fewer bytes.
    static constexpr std::size_t least_payload = 4096;

    /// Returns the size of the largest message: least_payload or more, in bytes. May change with each
    /// connection.
    virtual std::size_t max_payload() const noexcept = 0;

    /// Sends the messages that wait, and ends the connection. Afterwards the bus calls its user no more, and
    /// can only be destroyed.
    virtual boost::asio::awaitable<void> close() = 0;
};

} // namespace skep

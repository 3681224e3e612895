// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/nats_address.hpp"
#include <skep/nats_options.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nats/nats.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace skep {

struct nats_deleter {
    void operator()(natsOptions* options) const noexcept { natsOptions_Destroy(options); }
    void operator()(natsMsg* message) const noexcept { natsMsg_Destroy(message); }
    void operator()(natsSubscription* subscription) const noexcept { natsSubscription_Destroy(subscription); }
};

using nats_message = std::unique_ptr<natsMsg, nats_deleter>;

/// A function of cnats has failed.
class nats_failure : public std::runtime_error {
public:
    nats_failure(natsStatus status, const std::string& text) : std::runtime_error(text), status_(status) {}

    /// Returns true if the server or the program's own files refuse the connection, so that the next attempt
    /// is likely to fail in the same way.
    bool is_refusal() const noexcept {
        return status_ != NATS_NO_SERVER && status_ != NATS_TIMEOUT && status_ != NATS_IO_ERROR &&
               status_ != NATS_CONNECTION_CLOSED;
    }

private:
    natsStatus status_;
};

/// Receives the reports of a connection, on threads of cnats.
class nats_listener {
public:
    virtual void on_message(nats_message message) = 0;
    virtual void on_problem(const std::string& text) = 0;
    virtual void on_loss() = 0;

    /// The server is about to end.
    virtual void on_lame_duck() = 0;

protected:
    ~nats_listener() = default;
};

/// One connection to one server, until its loss: cnats drops unsent messages with the object. Each function
/// may block, for as long as the connect_timeout, and throws nats_failure. Used on one thread.
class nats_connection {
public:
    nats_connection(nats_address server, const nats_options& options, nats_listener& listener);

    /// Calls the listener no more.
    ~nats_connection();
    nats_connection(const nats_connection&) = delete;
    nats_connection& operator=(const nats_connection&) = delete;

    /// `reply`: may be empty.
    void publish(const std::string& subject, const std::string& reply, const std::string& body);
    void subscribe(const std::string& subject);
    void unsubscribe(const std::string& subject);

    /// Waits until the server has received all messages.
    void flush();

    /// Ends the connection. The loss is reported when no thread of cnats uses the connection any more.
    void close() noexcept { natsConnection_Close(connection_.get()); }

    const nats_address& server() const noexcept { return server_; }
    std::size_t max_payload() const;

    /// Returns the servers that the cluster has announced. Does not throw nats_failure.
    std::vector<nats_address> announced_servers() const;

    /// Returns the cause of the loss.
    std::string loss() const;

    /// Returns the error with which the server has ended the connection; empty without one.
    std::string refusal() const;

private:
    struct closer {
        void operator()(natsConnection* connection) const noexcept { natsConnection_Destroy(connection); }
    };
    using subscription = std::unique_ptr<natsSubscription, nats_deleter>;

    /// The place of the listener in the table of all listeners.
    class registration {
    public:
        explicit registration(nats_listener& listener);
        ~registration();
        registration(const registration&) = delete;
        registration& operator=(const registration&) = delete;

        /// Returns the argument for callbacks of cnats: a number that is never used again.
        void* closure() const noexcept;

    private:
        std::uintptr_t number_;
    };

    nats_address server_;
    std::int64_t limit_ms_;
    std::map<std::string, subscription> subscriptions_;
    std::vector<subscription> ended_subscriptions_;      ///< that the reader of cnats may still use
    std::unique_ptr<natsConnection, closer> connection_; ///< ends before its subscriptions, with its reader
    registration registration_;                          ///< ends first
};

} // namespace skep

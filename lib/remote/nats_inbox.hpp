// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "async/timer.hpp"
#include "remote/bus.hpp"
#include "remote/nats_connection.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace skep {

/// A connection is up, or down with number 0.
struct connection_change {
    std::uint64_t number = 0; ///< of the connection
    std::size_t max_payload = 0;
};

struct nats_problem {
    std::string text;
};

/// The thread of the connection ends.
struct nats_thread_end {};

using nats_event = std::variant<nats_message, connection_change, nats_problem, nats_thread_end>;

/// Carries the reports of the connection from their threads to the user's executor, in order. Destroyed after
/// the last of the handlers that it has posted.
class nats_inbox : public std::enable_shared_from_this<nats_inbox> {
public:
    nats_inbox(const strand& executor, bus_user& user);

    /// Bytes of messages that may wait for the user; further messages are lost, which is a problem to report.
    static constexpr std::size_t most_bytes = 256u << 20;

    /// Adds an event. On any thread.
    void put(nats_event event);

    // The other functions are for the executor.

    /// The user is called no more. The end of the thread is still noted.
    void close() noexcept { is_closed_ = true; }

    /// Lets go of the executor. Threads may still put events.
    void detach();

    /// Returns the number of the connection that the user knows to be up, or 0.
    std::uint64_t connection() const noexcept { return connection_.number; }
    std::size_t max_payload() const noexcept { return connection_.max_payload; }

    /// Waits until the thread is about to end.
    asio::awaitable<bool> wait_for_thread() { return thread_end_->wait(); }

private:
    void post();
    void deliver();
    std::vector<nats_event> take();
    void discard(std::vector<nats_event> handled) noexcept;
    void handle(const nats_message& message);
    void handle(const connection_change& change);
    void handle(const nats_problem& problem);
    void handle(const nats_thread_end& end);

    std::mutex mutex_; ///< for the members up to is_posted_
    asio::any_io_executor executor_;
    std::vector<nats_event> events_;
    std::size_t bytes_ = 0;
    bool is_posted_ = false;

    bus_user& user_;
    connection_change connection_;
    std::set<std::string> reported_;  ///< problems, since the connection is up
    std::vector<nats_event> handled_; ///< to be destroyed together
    std::size_t handled_bytes_ = 0;
    bool is_closed_ = false;
    std::unique_ptr<latch> thread_end_; ///< null after detach()
};

} // namespace skep

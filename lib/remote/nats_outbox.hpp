// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace skep {

struct outgoing_message {
    std::uint64_t connection; ///< number of the only connection that may carry the message
    std::string subject;
    std::string reply;
    std::string body;
};

struct subscription_change {
    std::string subject;
    bool is_wanted;
};

/// The server is about to end. The tasks before this one can still be done.
struct lame_duck {};

using nats_task = std::variant<outgoing_message, subscription_change, lame_duck>;

/// The tasks for the thread of the connection, in order. Thread-safe.
class nats_outbox {
public:
    /// `most_bytes`: of waiting messages.
    explicit nats_outbox(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    /// Adds a message, or drops it if too much waits.
    void publish(outgoing_message message);

    void subscribe(std::string_view subject);
    void unsubscribe(std::string_view subject);

    /// Ends the thread's loops. The tasks that wait are still done, as far as the thread takes them within
    /// `patience`.
    void stop(duration patience);

    // Reports about the connection.
    void on_loss();
    void on_lame_duck();

    // The other functions are for the thread.

    bool is_stopped() const;
    bool is_late() const; ///< stopped, and the patience is over
    bool is_lost() const; ///< the connection

    /// Begins to take tasks for a connection. Returns the subjects to subscribe to.
    std::set<std::string, std::less<>> begin(std::uint64_t connection);

    /// Waits for a task. Returns nullopt after the loss of the connection, and when the outbox is stopped and
    /// empty.
    std::optional<nats_task> next();

    /// Waits until the loss is reported, for `limit` at most.
    void wait_for_loss(duration limit);

    /// Drops all tasks, and takes none until begin(). The connection has ended: there are no more reports.
    void end();

    /// Waits for `length`. Returns false at once if the outbox is stopped.
    bool pause(duration length);

private:
    void add(nats_task task);
    bool is_late_now() const; ///< with the lock

    const std::size_t most_bytes_;
    mutable std::mutex mutex_;
    std::condition_variable change_;
    std::deque<nats_task> tasks_;
    std::size_t bytes_ = 0;
    std::set<std::string, std::less<>> subjects_;
    std::uint64_t connection_ = 0; ///< 0: there is none
    bool is_lost_ = false;
    bool is_stopped_ = false;
    time_point stop_time_{}; ///< end of the patience
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include "redis/lazy_timer.hpp"
#include "redis/redis_protocol.hpp"
#include "redis/redis_transport.hpp"
#include "redis/waiting_operations.hpp"
#include <skep/redis_sessions.hpp>
#include <skep/time.hpp>

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace skep {

/// The outcome of a command.
struct redis_outcome {
    redis_reply reply;   ///< may be a refusal
    std::string problem; ///< reason for a missing reply
    bool is_cancelled = false;
};

/// A command and the caller that waits for its reply.
struct redis_exchange {
    redis_exchange(std::string command, redis_outcome& result, waiting_operations::place queue_place)
        : wire(std::move(command)), outcome(result), place(std::move(queue_place)) {}

    /// Resumes the caller. Preconditions: `outcome` is set.
    void end() noexcept { caller.complete(); }

    std::string wire;
    redis_outcome& outcome;  ///< in the caller's coroutine
    suspended_caller caller; ///< empty after the end of the wait
    time_point deadline;     ///< of the reply, set when the command is sent
    const waiting_operations::place place;
};

/// One connection to the server, from its start to its loss. Sends commands at once; the replies arrive in
/// the same order.
/// Lifetime: while callers wait, the operations on the socket keep the connection alive; afterwards the owner
/// may keep it by `on_idle`. So the destruction of a context destroys the callers as well. If the last
/// waiting caller was cancelled, the connection is closed, so that no operation stays in the context. Used on
/// a strand.
class redis_connection : public std::enable_shared_from_this<redis_connection> {
public:
    using ptr = std::shared_ptr<redis_connection>;
    using exchange_ptr = std::shared_ptr<redis_exchange>;

    /// Prepares a connection that opens at `begin`, or at once if `begin` has passed.
    redis_connection(const strand& executor, std::shared_ptr<const redis_options> options,
                     std::shared_ptr<redis_tls> tls, time_point begin, std::function<void(ptr)> on_idle);

    /// Connects at the time given. Called once.
    void open();

    /// Returns true if the connection is usable. Checks the socket of an idle connection.
    bool is_usable();

    /// Sends the command as soon as connected. Ends the exchange at the reply, or when no reply can arrive
    /// any more.
    void send(exchange_ptr new_exchange);

    /// Ends an exchange unless it has ended.
    void cancel(const exchange_ptr& unwanted_exchange);

    /// Ends the connection and all open exchanges, for `cause`.
    void lose(const std::string& cause);

private:
    using endpoint = redis_transport::protocol::endpoint;
    using steady_clock = std::chrono::steady_clock;

    template <class Step>
    void attempt(Step step);
    void resolve();
    void connect(const std::vector<endpoint>& endpoints);
    void greet();
    void transmit();
    void receive();
    void on_bytes(std::string_view bytes);
    void on_reply(redis_reply reply);
    void on_greeting(const redisReply& reply);
    void begin(exchange_ptr next);
    void finish(redis_exchange& ended_exchange);
    void go_on();

    /// Returns the time by which the server must answer or read.
    time_point due() const noexcept;
    void watch();
    std::string overdue() const;

    std::string address() const;

    const std::shared_ptr<const redis_options> options_;
    const std::function<void(ptr)> on_idle_;
    asio::ip::basic_resolver<asio::ip::tcp, strand> resolver_;
    redis_transport transport_;
    lazy_timer timer_;
    lazy_timer pause_; ///< before connecting
    const time_point begin_;
    time_point write_deadline_; ///< of the bytes in transit

    redis_parser parser_;
    std::array<char, 16'384> input_;
    std::string output_;
    std::string in_transit_;          ///< until written
    std::deque<exchange_ptr> queued_; ///< until connected
    std::deque<exchange_ptr> sent_;
    std::size_t awaited_ = 0;   ///< number of exchanges in both queues with a caller
    std::size_t greetings_ = 0; ///< commands that must succeed before other commands are sent
    bool is_ready_ = false;
    bool is_lost_ = false;
    bool is_receiving_ = false;
};

} // namespace skep

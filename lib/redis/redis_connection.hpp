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

/// What has become of a command.
struct redis_outcome {
    redis_reply reply;   ///< which may be a refusal
    std::string problem; ///< why there is none
    bool is_cancelled = false;
};

/// A command, and who waits for its reply.
struct redis_exchange {
    redis_exchange(std::string command, redis_outcome& result, waiting_operations::place queue_place)
        : wire(std::move(command)), outcome(result), place(std::move(queue_place)) {}

    /// To be called when `outcome` is known.
    void end() noexcept { caller.complete(); }

    std::string wire;
    redis_outcome& outcome;  ///< in the coroutine that is the caller
    suspended_caller caller; ///< nobody once he no longer waits
    time_point deadline;     ///< for the reply, once the command is sent
    const waiting_operations::place place;
};

/// One connection to the server, from its making to its loss. Commands are sent at once, and answered in their order.
/// While a caller waits, the connection is kept alive by its operations on the socket; then whoever is `on_idle` may keep
/// it. So a context that is destroyed takes the callers with it. A connection that has waited for callers, the last of which
/// was cancelled, is closed: nothing is left in the context. On a strand.
class redis_connection : public std::enable_shared_from_this<redis_connection> {
public:
    using ptr = std::shared_ptr<redis_connection>;
    using exchange_ptr = std::shared_ptr<redis_exchange>;

    /// To be connected at `begin`, or at once if that is over.
    redis_connection(const strand& executor, std::shared_ptr<const redis_options> options,
                     std::shared_ptr<redis_tls> tls, time_point begin, std::function<void(ptr)> on_idle);

    /// Connects, when it is time. To be called once.
    void open();

    /// Whether it may be used; an idle one finds out.
    bool is_usable();

    /// Sends the command, once connected. Ends the exchange when the reply has come or it is clear that none will.
    void send(exchange_ptr new_exchange);

    /// Ends an exchange, if it has not ended.
    void cancel(const exchange_ptr& unwanted_exchange);

    /// Ends the connection, and each exchange that has not ended, for `cause`.
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

    /// Until when the server has to answer, or to read.
    time_point due() const noexcept;
    void watch();
    std::string overdue() const;

    std::string address() const;

    const std::shared_ptr<const redis_options> options_;
    const std::function<void(ptr)> on_idle_;
    asio::ip::basic_resolver<asio::ip::tcp, strand> resolver_;
    redis_transport transport_;
    lazy_timer timer_;
    lazy_timer pause_; ///< before it connects
    const time_point begin_;
    time_point write_deadline_; ///< of the bytes in transit

    redis_parser parser_;
    std::array<char, 16'384> input_;
    std::string output_;
    std::string in_transit_;          ///< until it is written
    std::deque<exchange_ptr> queued_; ///< until it is connected
    std::deque<exchange_ptr> sent_;
    std::size_t awaited_ = 0;   ///< of the exchanges in both, those with a caller
    std::size_t greetings_ = 0; ///< commands that are to succeed before those of others are sent
    bool is_ready_ = false;
    bool is_lost_ = false;
    bool is_receiving_ = false;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include "async/timer.hpp"
#include "redis/redis_protocol.hpp"
#include <skep/redis_sessions.hpp>
#include <skep/time.hpp>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
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
    redis_exchange(std::string what, redis_outcome& result) : wire(std::move(what)), outcome(result) {}

    /// To be called when `outcome` is known.
    void end() { resume(std::move(caller)); }

    std::string wire;
    redis_outcome& outcome;  ///< in the coroutine that is the caller
    suspended_caller caller; ///< nobody once he no longer waits
    time_point deadline;     ///< for the reply, once the command is sent
};

/// One connection to the server, from its making to its loss. Commands are sent at once, and answered in their order.
/// While there is something to wait for it is kept alive by that; then whoever is `on_idle` may keep it. So a context that
/// is destroyed takes the callers with it. On a strand.
class redis_connection : public std::enable_shared_from_this<redis_connection> {
public:
    using ptr = std::shared_ptr<redis_connection>;
    using exchange_ptr = std::shared_ptr<redis_exchange>;

    redis_connection(const strand& executor, std::shared_ptr<const redis_options> options,
                     std::function<void(ptr)> on_idle);

    /// Connects. To be called once.
    void open();

    /// Whether it may be used; an idle one finds out.
    bool is_usable();

    /// Sends the command, once connected. Ends the exchange when the reply has come or it is clear that none will.
    void send(exchange_ptr added);

    /// Ends an exchange, if it has not ended.
    void cancel(const exchange_ptr& unwanted);

private:
    using protocol = asio::generic::stream_protocol;
    using steady_clock = std::chrono::steady_clock;

    void connect(const std::vector<protocol::endpoint>& endpoints);
    void greet();
    void transmit();
    void receive();
    void on_bytes(std::string_view bytes);
    bool on_reply(redis_reply reply);
    void on_greeting(const redisReply& reply);
    void begin(exchange_ptr next);
    void go_on();

    /// Until when there has to be an answer.
    time_point due() const noexcept;
    void watch();

    void lose(const std::string& cause);
    std::string address() const;

    const std::shared_ptr<const redis_options> options_;
    const std::function<void(ptr)> on_idle_;
    asio::ip::basic_resolver<asio::ip::tcp, strand> resolver_;
    asio::basic_stream_socket<protocol, strand> socket_;
    asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, strand> timer_;
    const time_point connect_deadline_;
    time_point watched_until_ = time_point::max();

    redis_parser parser_;
    std::array<char, 16'384> input_;
    std::string output_;
    std::string in_transit_;
    std::deque<exchange_ptr> queued_; ///< until it is connected
    std::deque<exchange_ptr> sent_;
    std::size_t greetings_ = 0; ///< commands that are to succeed before those of others are sent
    bool is_ready_ = false;
    bool is_lost_ = false;
    bool is_transmitting_ = false;
    bool is_receiving_ = false;
};

} // namespace skep

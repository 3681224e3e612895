// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "remote/bus.hpp"
#include <skep/nats_options.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace skep {

class nats_inbox;
class nats_session;

/// The connection of a program to the servers of a NATS cluster, through cnats. A thread of its own connects,
/// from the constructor on, and again after each loss, for ever. Between two connections publish() drops
/// messages; messages that waited for a lost connection are never sent. The bus leaves a server in lame duck
/// mode if it knows another one.
///
/// Problems: the user is told the cause of each failed attempt and of each loss, and each refusal by the
/// server, such as a permissions violation. Each text is told once until the next connection, and has no
/// secrets. After a refused attempt, for example with a wrong password, the next attempt comes in 2 s.
///
/// Limits: at most send_buffer bytes wait to be sent, and 256 MiB for the executor. Further messages are
/// lost; a loss of the second kind is told as a problem. A message with a subject of more than 1,000 bytes,
/// or with a space or control character in it, is dropped.
///
/// cnats: starts four threads for the whole program, until the end of the program, and one for each
/// connection, and sets SIGPIPE to be ignored. Before 3.11 its use of TLS is not thread-safe. An attempt
/// that is stuck in the look-up of a host, or before 3.11 in a TLS handshake, is left alone on a thread of
/// its own, and ends when it can; with eight such threads there are no further attempts.
///
/// Executor: the bus is used and destroyed on `executor`; the bus calls its user there. Until close() has
/// ended, the executor has work.
class nats_bus final : public bus {
public:
    /// Precondition: the options keep their rules.
    nats_bus(const strand& executor, bus_user& user, const nats_options& options);

    /// Closes the connection and drops waiting messages, unless close() has ended. Blocks until the thread
    /// has ended, as in close().
    ~nats_bus() override;
    nats_bus(const nats_bus&) = delete;
    nats_bus& operator=(const nats_bus&) = delete;

    /// Calls the user no more, sends the waiting messages, and ends the thread.
    /// The server's slowness delays the end by three times connect_timeout at most, plus 1 s.
    /// Cancellation: terminal; the destructor then ends the thread.
    boost::asio::awaitable<void> close() override;

    void publish(std::string_view subject, std::string_view reply, std::string_view head,
                 std::string_view body) override;
    void subscribe(std::string_view subject) override;
    void unsubscribe(std::string_view subject) override;
    bool is_up() const noexcept override;
    std::size_t max_payload() const noexcept override;

private:
    void end();

    duration patience_; ///< of close(), with the waiting messages
    std::shared_ptr<nats_inbox> inbox_;
    std::shared_ptr<nats_session> session_; ///< on the thread
    std::thread thread_;
};

} // namespace skep

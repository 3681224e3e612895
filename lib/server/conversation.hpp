// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "server/call_server.hpp"
#include "server/host_channels.hpp"
#include "server/lifecycle_hooks.hpp"
#include "server/listener.hpp"

#include <boost/asio/signal_set.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// The conversation of a worker process with its host: the handshake, the calls until the stop, and the hooks
/// around the calls. Used on the strand.
class conversation {
public:
    /// `threads`: the number of extra threads for plain handlers; 0 = plain handlers run on the strand.
    conversation(const strand& executor, host_connection connection, std::size_t capacity,
                 std::size_t threads, const work& worker_functions);

    /// Runs the whole conversation. Returns the exit status of the process. `previous_exit` is set before the
    /// first hook runs.
    asio::awaitable<int> run(std::string& previous_exit);

private:
    asio::awaitable<void> read_calls();

    void greet();
    void begin_to_listen();
    void on_terminate();
    void stop();

    void handle(std::vector<host_message> messages);
    void handle(welcome_message welcome);
    void handle(call_message call);
    void handle(ping_message) noexcept {}   // answered by the listener
    void handle(recall_message) noexcept {} // the same
    void handle(shutdown_message) { stop(); }
    template <class Message>
    void handle(Message message) {
        calls_.handle(std::move(message));
    }

    strand executor_;
    host_channels host_;
    call_server calls_;
    lifecycle_hooks hooks_;
    task_group reading_;
    latch welcomed_;
    latch stop_;
    bool has_welcome_ = false;
    asio::basic_signal_set<strand> terminate_;
    std::unique_ptr<listener> listener_; ///< last: its thread uses the members above
};

} // namespace skep

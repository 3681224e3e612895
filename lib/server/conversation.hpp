// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "server/call_places.hpp"
#include "server/commands.hpp"
#include "server/host_channels.hpp"
#include "server/lifecycle_hooks.hpp"
#include "server/listener.hpp"
#include "server/served_call.hpp"

#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skep {

/// One worker's conversation with its host: the handshake, the calls until the stop, and the hooks around the
/// calls. Used on the strand.
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
    asio::awaitable<void> serve(std::shared_ptr<served_call> call, const detail::async_handler& handler);
    asio::awaitable<boost::json::value> check_health(worker_call& call);

    void greet();
    void begin_to_listen();
    void on_terminate();
    void stop();

    void handle(std::vector<host_message> messages);
    void handle(welcome_message welcome);
    void handle(call_message call);
    void handle(cancel_message cancel);
    void handle(credit_message credit);
    void handle(tool_result_message result);
    void handle(tool_error_message error);
    void handle(ping_message) noexcept {} // answered by the listener
    void handle(shutdown_message) { stop(); }
    void handle_tool_answer(std::uint64_t number, decltype(open_tool_call::answer) answer);

    void accept(call_message&& call);
    void begin_waiting();
    void begin(call_message&& message);
    void run_on_thread(std::shared_ptr<served_call> call, const detail::plain_handler& handler);
    void finish(served_call& call, boost::json::value value, const std::exception_ptr& problem);
    const command_handler& handler_for(const served_call& call) const;
    std::optional<time_point> deadline_of(const call_message& call) const;

    const work& work_;
    command_handler health_check_;
    host_channels host_;
    call_services services_;
    call_counters counters_;
    lifecycle_hooks hooks_;
    task_group calls_;
    task_group reading_;
    latch welcomed_;
    latch stop_;
    bool is_terminating_ = false;
    std::optional<time_point> welcome_time_;
    call_places places_;
    bool is_beginning_ = false;
    latch idle_; ///< opens when no call runs
    asio::basic_signal_set<strand> terminate_;
    // Last members: their threads use the members above.
    std::optional<asio::thread_pool> threads_;
    std::unique_ptr<listener> listener_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "async/task_group.hpp"
#include "server/batch_intake.hpp"
#include "server/call_counters.hpp"
#include "server/call_places.hpp"
#include "server/commands.hpp"
#include "server/served_batch.hpp"
#include "server/served_call.hpp"
#include "wire/call_messages.hpp"
#include "wire/worker_messages.hpp"

#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace skep {

/// Serves the calls of a worker: runs their handlers, a limited number at a time, and answers. Independent of
/// the channels, and of the kind of the worker: process or test double. Used on the strand.
class call_server {
public:
    using error_handler = std::function<void(const std::exception_ptr&)>;

    /// `threads`: the number of extra threads for plain handlers; 0 = plain handlers run on the strand.
    /// `on_error` gets failures of the server itself, such as lack of memory.
    call_server(const strand& executor, frame_output& output, std::size_t capacity, std::size_t threads,
                const work& worker_functions, error_handler on_error);

    call_services& services() noexcept { return services_; }
    const call_counters& counters() const noexcept { return counters_; }

    /// Returns what a hello says of the commands and the capacity.
    hello_message introduction() const;

    void announce(const hello_message& hello, bool has_control);
    void announce_ready();

    // Messages of the host.
    void handle(welcome_message welcome);
    void handle(call_message call);
    void handle(cancel_message cancel);
    void handle(credit_message credit);
    void handle(tool_result_message result);
    void handle(tool_error_message error);

    /// Begins no further calls.
    void stop();

    /// Interrupts the running calls, whose answers are no longer wanted, and begins no further calls.
    void interrupt();

    /// Waits for the running calls, and sends their answers.
    asio::awaitable<void> drain();

private:
    asio::awaitable<boost::json::value> check_health(worker_call& call);

    void handle_tool_answer(std::uint64_t number, decltype(open_tool_call::answer) answer);
    void release(std::span<const region_place> places);
    void gather(call_message&& call);
    void begin_waiting();
    void begin(call_message&& message);
    void begin(std::vector<call_message>&& messages);
    std::shared_ptr<served_call> accept(call_message&& message);

    // A unit is a served_call or a served_batch.
    template <class Unit>
    void run(const std::shared_ptr<Unit>& unit, const command_handler& handler);
    template <class Unit>
    asio::awaitable<void> serve(std::shared_ptr<Unit> unit, const typename Unit::async_handler& handler);
    template <class Unit>
    void run_on_thread(std::shared_ptr<Unit> unit, const typename Unit::plain_handler& handler);
    template <class Unit>
    void answer(Unit& unit, typename Unit::result result, const std::exception_ptr& problem);
    template <class Unit>
    void finish(Unit& unit, typename Unit::result result, const std::exception_ptr& problem);
    void record_end(const served_call& call);
    void record_end(const served_batch& batch);

    /// Returns the handler of a call. Answers the call and returns null if it must not run.
    const command_handler* find_handler(served_call& call);
    const command_handler& handler_for(const served_call& call) const;
    std::optional<time_point> deadline_of(const call_message& call) const;

    const work& work_;
    command_handler health_check_;
    command_handler any_command_; ///< has no function without work::any_command
    error_handler on_error_;
    call_services services_;
    call_counters counters_;
    task_group calls_;
    bool is_stopping_ = false;
    bool is_interrupted_ = false;
    std::optional<time_point> welcome_time_;
    batch_intake batch_;
    call_places places_;
    bool is_beginning_ = false;
    latch idle_;                               ///< opens when no call runs
    std::optional<asio::thread_pool> threads_; ///< last: its threads use the members above
};

} // namespace skep

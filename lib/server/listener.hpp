// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/blocking_io.hpp"
#include "server/call_counters.hpp"
#include "server/served_call.hpp"
#include "wire/call_messages.hpp"

#include <functional>
#include <string_view>
#include <thread>
#include <vector>

namespace skep {

/// The thread that listens to the host while handlers may keep the worker's own thread busy. Answers pings,
/// records cancels, gives back recalled calls, and ends the process when the host is gone or breaks the
/// protocol. Hands all other messages over, in order.
class listener {
public:
    using message_handler = std::function<void(std::vector<host_message>)>;

    /// Reads `input_fd`, watches `watched_fd` (see blocking_input), and answers through `output`. Calls
    /// `on_messages` on the thread. Uses the cancelled and the recalled calls of `services`.
    listener(int input_fd, int watched_fd, shared_output& output, const call_counters& counters,
             call_services& services, message_handler on_messages);

    /// Ends the thread.
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

private:
    void listen();
    void handle(std::size_t count);
    void pong(const ping_message& ping);
    void give_back(const recall_message& recall);
    void send(const std::string& frame);

    blocking_input input_;
    shared_output& output_;
    const call_counters& counters_;
    call_services& services_;
    message_handler on_messages_;
    frame_decoder frames_;
    host_message_decoder messages_;
    std::thread thread_;
};

/// Returns the limits for a worker's input under the host's limits. Without an argument: until the host's
/// limits are known.
frame_limits limits_of_input(const worker_limits& limits = {});

/// Reports on stderr that the host broke the protocol, and ends the process.
[[noreturn]] void leave_as_host_breaks_protocol(std::string_view violation);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/blocking_io.hpp"
#include "process/host_connection.hpp"
#include "runtime/byte_stream.hpp"
#include "server/answer_memory.hpp"
#include "server/listener.hpp"
#include "server/shared_line.hpp"

#include <memory>
#include <optional>
#include <string>

namespace skep {

/// The connection of a worker with its host: a channel for calls and their answers and, unless everything
/// goes over stdio, a second channel for control messages.
class host_channels {
public:
    explicit host_channels(host_connection connection);

    bool over_stdio() const noexcept { return over_stdio_; }

    /// Returns the token that identifies the worker; empty over stdio.
    const std::string& token() const noexcept { return connection_.token; }

    /// Returns the output for answers.
    shared_output& out() noexcept { return data_out_; }

    /// Starts the listener. Called once. The arguments and this object must outlive the listener.
    std::unique_ptr<listener> listen(const strand& executor, const call_counters& counters,
                                     call_services& services, listener::message_handler on_messages);

    /// Returns true if the host can share memory with the worker.
    bool has_regions() const noexcept { return connection_.regions.get() >= 0; }

    /// Begins to share memory with the host, after listen(), as the welcome allows.
    void share(const shared_limits& limits);

    /// Return the memory of calls and of answers; null without shared memory.
    memory_source* regions() noexcept { return answers_ ? &*shared_line_ : nullptr; }
    answer_memory* answers() noexcept { return answers_ ? &*answers_ : nullptr; }

    /// Returns the input for calls, after listen(); null over stdio, where the listener reads everything.
    byte_stream* calls() const noexcept { return data_in_.get(); }

private:
    host_connection connection_;
    bool over_stdio_; ///< needed even after the connection has given its descriptors away
    shared_output data_out_;
    std::optional<shared_output> control_out_;
    std::unique_ptr<byte_stream> data_in_;
    std::optional<shared_line> shared_line_;
    std::optional<answer_memory> answers_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/heartbeat.hpp"
#include "worker/worker_core.hpp"

#include <cstdint>
#include <optional>

namespace skep {

/// Pings one worker, for its heartbeat and for the user, and reports the worker lost if too many pings in a
/// row stay unanswered. A worker that answers a ping twice, or after a later ping, breaks the protocol. Used
/// on the pool's strand.
class worker_pulse {
public:
    explicit worker_pulse(worker_core& core) noexcept : core_(core) {}

    /// Starts when the worker is up. Returns false if the heartbeat is off.
    bool begin(time_point now);

    /// Sends pings until cancelled.
    asio::awaitable<void> run();

    /// Records that data arrived from the worker.
    void hear() noexcept {
        if (monitor_) {
            monitor_->heard();
        }
    }

    /// Throws protocol_violation if no outstanding ping matches.
    void handle(const pong_message& pong);

    /// Sends a ping for the user, with or without a heartbeat. Returns the number of the ping.
    std::uint64_t ping_now();
    std::uint64_t last_pong() const noexcept { return monitor_ ? monitor_->last_answered() : 0; }

private:
    void ping();
    void send_ping(std::uint64_t number);

    worker_core& core_;
    std::optional<heartbeat_monitor> monitor_;
    std::uint64_t missed_ = 0;
    std::uint64_t awaited_pong_ = 0; ///< number of the last ping that a caller waits for
};

} // namespace skep

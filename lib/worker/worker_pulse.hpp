// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/heartbeat.hpp"
#include "worker/worker_core.hpp"

#include <cstdint>
#include <optional>

namespace skep {

/// Pings one worker, by its heartbeat and for the user, and reports it lost if too many pings in a row are not answered.
/// A ping is answered once at most, and never after a later one, or the worker breaks the protocol. On the pool's strand.
class worker_pulse {
public:
    explicit worker_pulse(worker_core& core) noexcept : core_(core) {}

    /// The worker is up. False if it has no heartbeat.
    bool begin(time_point now);

    /// Pings, until it is cancelled.
    asio::awaitable<void> run();

    /// Something has arrived from the worker.
    void hear() noexcept {
        if (monitor_) {
            monitor_->heard();
        }
    }

    /// Throws protocol_violation if nothing was asked that this answers.
    void handle(const pong_message& pong);

    /// Sends a ping for the user, with or without a heartbeat, and returns its number.
    std::uint64_t ping_now();
    std::uint64_t last_pong() const noexcept { return monitor_ ? monitor_->last_answered() : 0; }

private:
    void ping();
    void send_ping(std::uint64_t number);

    worker_core& core_;
    std::optional<heartbeat_monitor> monitor_;
    std::uint64_t missed_ = 0;
    std::uint64_t awaited_pong_ = 0; ///< the last one that somebody waits for
};

} // namespace skep

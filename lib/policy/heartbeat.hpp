// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace skep {

/// What to do at one heartbeat tick.
struct heartbeat_verdict {
    std::uint64_t ping = 0; ///< the sequence number to send
    int new_misses = 0;     ///< pings that became overdue since the last tick
    bool lost = false;      ///< `misses` in a row are overdue: the worker is lost
};

/// Judges a worker by its answers. Any sign of life counts as an answer. A tick that comes late, by
/// more than a second or half of the timeout, means that the host itself stood still: the worker then gets its time anew.
class heartbeat_monitor {
public:
    heartbeat_monitor(const heartbeat_options& options, time_point now) noexcept;

    /// Something arrived from the worker.
    void heard() noexcept {
        silent_since_.reset();
        misses_ = 0;
    }

    /// It has answered a ping. False if that one was not outstanding: pings are answered in order, and once.
    bool answered(std::uint64_t sequence) noexcept {
        const bool outstanding = sequence > answered_ && sequence <= sequence_;
        if (outstanding) {
            answered_ = sequence;
            heard();
        }
        return outstanding;
    }

    /// One more ping, that nothing is judged by. Returns its number.
    std::uint64_t add_ping(time_point now) noexcept {
        sent_[++sequence_ % sent_.size()] = now;
        return sequence_;
    }
    std::uint64_t last_answered() const noexcept { return answered_; }

    /// No ping now: it could not be answered.
    void put_off(time_point now) noexcept {
        heard();
        next_tick_ = now + options_.interval;
    }

    /// When that ping was sent, if it is one of the last eight.
    time_point sent_at(std::uint64_t sequence) const noexcept { return sent_[sequence % sent_.size()]; }

    /// When the next tick is due.
    time_point next_tick() const noexcept { return next_tick_; }

    heartbeat_verdict tick(time_point now) noexcept;

private:
    heartbeat_options options_;
    time_point next_tick_;
    std::uint64_t sequence_ = 0;             ///< of the ping sent last
    std::uint64_t answered_ = 0;             ///< of the one answered last
    std::array<time_point, 8> sent_{};       ///< the last pings, by number
    std::optional<time_point> silent_since_; ///< when the oldest unanswered ping was sent
    int misses_ = 0;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace skep {

/// The actions of one heartbeat tick.
struct heartbeat_verdict {
    std::uint64_t ping = 0; ///< the sequence number to send
    int new_misses = 0;     ///< pings that became overdue since the last tick
    bool lost = false;      ///< `misses` in a row are overdue: the worker is lost
};

/// Judges a worker by its answers. Any sign of life counts as an answer. A tick that is late by more than
/// half of the timeout (at least 100 ms, at most 1 s) means that the host itself stood still: the worker then
/// gets its full time again.
class heartbeat_monitor {
public:
    heartbeat_monitor(const heartbeat_options& options, time_point now) noexcept;

    /// Records that data arrived from the worker.
    void heard() noexcept {
        silent_since_.reset();
        misses_ = 0;
    }

    /// Records the answer to a ping. Returns false if the ping was not outstanding: pings are answered in
    /// order, and once.
    bool answered(std::uint64_t sequence) noexcept {
        const bool outstanding = sequence > answered_ && sequence <= sequence_;
        if (outstanding) {
            answered_ = sequence;
            heard();
        }
        return outstanding;
    }

    /// Adds a ping without effect on verdicts. Returns the number of the ping.
    std::uint64_t add_ping(time_point now) noexcept {
        sent_[++sequence_ % sent_.size()] = now;
        return sequence_;
    }
    std::uint64_t last_answered() const noexcept { return answered_; }

    /// Skips the ping of this tick, because the worker could not answer.
    void put_off(time_point now) noexcept {
        heard();
        next_tick_ = now + options_.interval;
    }

    /// Returns the time at which ping `sequence` was sent. Precondition: the ping is one of the last eight.
    time_point sent_at(std::uint64_t sequence) const noexcept { return sent_[sequence % sent_.size()]; }

    /// Returns the time of the next tick.
    time_point next_tick() const noexcept { return next_tick_; }

    heartbeat_verdict tick(time_point now) noexcept;

private:
    heartbeat_options options_;
    time_point next_tick_;
    std::uint64_t sequence_ = 0;             ///< of the last ping sent
    std::uint64_t answered_ = 0;             ///< of the last ping answered
    std::array<time_point, 8> sent_{};       ///< the last pings, by number
    std::optional<time_point> silent_since_; ///< when the oldest unanswered ping was sent
    int misses_ = 0;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/flood_brake.hpp"

#include <cstddef>
#include <utility>

namespace skep {

/// The kinds of a worker's messages, by price.
enum class talk {
    answer,    ///< answers a call, in whole or in part, at a caller's request; or gives a recalled call back
    tool_call, ///< requested from a tool that the service offers
    unasked    ///< progress, events, log records, pongs
};

/// Limits the cost of one channel of a worker for the host: a tenth of a thread's time for tool calls and for
/// bytes that trickle in, a fiftieth for unasked messages. Answers are free, because callers decide their
/// number. After a burst of 40 ms, or 8 ms, the channel pauses in proportion to the cost. Costs are in
/// nanoseconds, estimated from sizes, so that every run decides the same.
class worker_talk {
public:
    /// `bytes` bytes have arrived. The messages that the bytes complete are recorded next.
    void begin_turn(std::size_t bytes) noexcept {
        piece_ = bytes < small_piece ? handling_of_small_piece : 0;
    }

    /// A message was taken. `reading`: the cost of reading the message.
    void record(talk kind, std::size_t reading) noexcept {
        piece_ = 0;
        switch (kind) {
        case talk::answer: has_answered_ = true; break;
        case talk::tool_call: owed_ += handling_of_tool_call + reading; break;
        case talk::unasked: owed_ += price_of_unasked * (handling_of_unasked + reading); break;
        }
    }

    /// Returns true if charge() would have an effect.
    bool is_to_be_charged() const noexcept {
        return owed_ + piece_ > 0 || (has_answered_ && most_ != any_amount);
    }

    /// Charges the recorded cost at `now`. Returns the time to read on.
    time_point charge(time_point now) noexcept {
        most_ = owed_ > 0 ? at_a_time : has_answered_ ? any_amount : most_;
        has_answered_ = false;
        return brake_.charge(std::exchange(owed_, 0) + std::exchange(piece_, 0), now);
    }

    /// Returns the number of bytes to read at a time. Small from the first charged message until only answers
    /// arrive, so that others get their turns in between.
    std::size_t most_to_read() const noexcept { return most_; }

private:
    static constexpr std::size_t per_second = 100'000'000;
    static constexpr std::size_t burst = 40'000'000;
    static constexpr std::size_t price_of_unasked = 5;
    static constexpr std::size_t handling_of_tool_call = 4'000;
    static constexpr std::size_t handling_of_unasked = 2'000;
    static constexpr std::size_t handling_of_small_piece = 5'000;
    static constexpr std::size_t small_piece = 1u << 10;
    static constexpr std::size_t at_a_time = 8u << 10;
    static constexpr std::size_t any_amount = static_cast<std::size_t>(-1);

    flood_brake brake_{burst, per_second};
    std::size_t owed_ = 0;
    std::size_t piece_ = 0; ///< for the bytes of this turn, unless the bytes complete a message
    std::size_t most_ = any_amount;
    bool has_answered_ = false; ///< since the last charge
};

} // namespace skep

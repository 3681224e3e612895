// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/flood_brake.hpp"

#include <cstddef>
#include <utility>

namespace skep {

/// What a worker says, for its price.
enum class talk {
    answer,    ///< to a call, or a piece of it: a caller has asked for that
    tool_call, ///< the service has offered that
    unasked    ///< progress, events, log records, pongs
};

/// What one channel of a worker may cost the host: a tenth of a thread's time for tool calls and for bytes that trickle in, a
/// fiftieth for what nobody has asked for, nothing for answers, of which callers decide. After a burst of 40 ms, or 8 ms,
/// the channel is to pause for as long as what was taken is worth. Costs are nanoseconds, estimated from sizes: so every
/// run decides the same.
class worker_talk {
public:
    /// So many bytes have come. The messages that they complete are taken next.
    void begin_turn(std::size_t bytes) noexcept {
        piece_ = bytes < small_piece ? handling_of_small_piece : 0;
    }

    /// A message was taken, reading which has cost so much.
    void record(talk kind, std::size_t reading) noexcept {
        piece_ = 0;
        switch (kind) {
        case talk::answer: has_answered_ = true; break;
        case talk::tool_call: owed_ += handling_of_tool_call + reading; break;
        case talk::unasked: owed_ += price_of_unasked * (handling_of_unasked + reading); break;
        }
    }

    /// Whether charge() would change anything.
    bool is_to_be_charged() const noexcept {
        return owed_ + piece_ > 0 || (has_answered_ && most_ != any_amount);
    }

    /// What was taken is charged at `now`. Returns when to read on.
    time_point charge(time_point now) noexcept {
        most_ = owed_ > 0 ? at_a_time : has_answered_ ? any_amount : most_;
        has_answered_ = false;
        return brake_.charge(std::exchange(owed_, 0) + std::exchange(piece_, 0), now);
    }

    /// How many bytes to read at a time: few since something came that is charged for, until answers alone come, so that
    /// others get their turns in between.
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
    std::size_t piece_ = 0; ///< for the bytes of this turn, unless they complete a message
    std::size_t most_ = any_amount;
    bool has_answered_ = false; ///< since the last charge
};

} // namespace skep

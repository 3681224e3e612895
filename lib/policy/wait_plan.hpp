// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>

namespace skep {

/// Decides how a thread waits for its next work. Where work comes within microseconds, a wake-up costs more
/// than the work: the thread then does better to yield its core to other threads and look again, for a short
/// try, before it sleeps. Tries in vain take at most a tenth of a core.
class wait_plan {
public:
    static constexpr duration longest_try = std::chrono::microseconds(50);

    /// A yield that lasts this long gave the core to another thread, which needed it.
    static constexpr duration contended_yield = std::chrono::microseconds(15);

    /// Returns true if a wait that begins at `now` is to begin with a try.
    bool has_prospects(time_point now) noexcept {
        refill(now);
        if (gap_ > longest_gap || credit_ < longest_try) {
            return false;
        }
        return std::popcount(outcomes_) >= fewest_successes || ++declined_ % probe_interval == 0;
    }

    /// Returns true if a try continues: `length` so far, and the length of its last yield.
    static bool continues(duration length, duration last_yield) noexcept {
        return length < longest_try && last_yield < contended_yield;
    }

    /// Work came during a try, after a gap.
    void found(duration gap) noexcept {
        record(true);
        learn(gap);
    }

    /// A try of this length was in vain.
    void tried_in_vain(duration length) noexcept {
        record(false);
        credit_ -= length;
    }

    /// Work came during sleep. The gap lasts from the begin of the wait to the end of the first work.
    void slept(duration gap) noexcept { learn(gap); }

private:
    static constexpr duration longest_gap = std::chrono::microseconds(200); // with the wake-ups of both sides
    static constexpr duration most_credit = std::chrono::milliseconds(10);
    static constexpr int credit_per_time = 10; ///< a tenth of a core
    static constexpr int fewest_successes = 4; ///< of the last eight tries
    static constexpr unsigned probe_interval = 16;
    static constexpr int weight = 8; ///< of the average gap against a new gap

    void refill(time_point now) noexcept {
        credit_ = std::min(most_credit, credit_ + (now - last_) / credit_per_time);
        last_ = now;
    }

    void record(bool success) noexcept {
        outcomes_ = static_cast<std::uint8_t>(outcomes_ << 1 | static_cast<unsigned>(success));
    }

    // A long pause says that work came seldom until now; it must not outweigh the gaps after it.
    void learn(duration gap) noexcept { gap_ += (std::min(gap, 4 * longest_gap) - gap_) / weight; }

    duration gap_ = longest_gap;          ///< average time from the end of work to new work
    duration credit_ = most_credit;       ///< time for tries in vain
    time_point last_{};                   ///< of the last refill
    std::uint8_t outcomes_ = 0b1111'1111; ///< of the last tries, 1 for success
    unsigned declined_ = 0;               ///< waits without a try, for lack of success
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/batch_limits.hpp"
#include "policy/pipelining.hpp"
#include <skep/pool_config.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <string>

namespace skep {

/// Returns the limits of the command's batches: those of the configuration, or else of the worker's script.
batch_limits limits_of(const pool_config& config, const std::string& command, batch_limits of_script);

/// The past calls and batches of one command, as far as they tell whether it pays to wait for more calls.
class batch_history {
public:
    // Called for each call that arrives, each that is answered, and each batch that is sent or has ended.
    void arrived(time_point now) noexcept;
    void answered() noexcept { has_answer_since_hold_ = true; }
    void formed(std::size_t calls) noexcept;
    void ran(duration time) noexcept;

    /// A place is free, and its batch is held back.
    void held() noexcept;

    /// Returns true if several calls lately came together, so that a new call probably is not alone.
    bool is_crowded() const noexcept { return last_size_ > 1; }

    /// Returns false if a batch was held back lately, and no calls came. Returns true now and then, because
    /// the callers may have changed.
    bool may_more_come() const noexcept { return vain_left_ == 0; }

    /// Returns the latest time of the next call if calls come as usual.
    time_point next_expected() const noexcept;

    /// Returns true if another batch may wait at a worker behind a batch of this command.
    bool is_short() const noexcept;

    /// Returns the usual time from sending a batch to its last answer; zero if none is known.
    duration run_time() const noexcept { return run_time_; }

private:
    std::size_t last_size_ = 0;
    duration run_time_{};
    time_point last_arrival_;
    duration gap_{}; ///< between arrivals: about the median
    bool is_holding_ = false;
    bool has_more_since_hold_ = false; ///< a call came, and not because of an answer
    bool has_answer_since_hold_ = false;
    int vain_holds_ = 0;        ///< in a row
    std::size_t vain_left_ = 0; ///< batches that are not held back now
};

/// The calls that would make the next batch.
struct batch_outlook {
    std::size_t calls = 1;
    batch_limits limits;
    time_point oldest;                       ///< arrival of the first call
    time_point deadline = time_point::max(); ///< the earliest of the calls
    bool has_place = true;                   ///< false: the batch would be pipelined
};

/// Returns the time when the batch is sent unless more calls come before; a time in the past: now. A full
/// batch is sent at once. A batch that is not full waits for a free place, and there only if its command has
/// a wait and more calls may come.
time_point time_to_send(const batch_outlook& next, const batch_history& past) noexcept;

} // namespace skep

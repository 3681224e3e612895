// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/departure.hpp"
#include "policy/stop_sequence.hpp"
#include <skep/exit_class.hpp>

#include <boost/container/static_vector.hpp>

#include <optional>
#include <string>
#include <vector>

namespace skep {

/// What a worker is to do next, so that its life goes on.
enum class life_step {
    wait,          ///< until something happens, or deadline()
    cancel_launch, ///< have the start return soon
    take_stacks,   ///< have it print where it is
    keep_stacks,   ///< what it has printed by now
    release_calls, ///< give back those it has
    ask,           ///< the stop stages
    terminate,
    kill,
    hear_out, ///< what it has sent is all that its channels bring
    reap,     ///< collect its status, and tell reaped()
    give_up,  ///< it cannot be ended
    close,    ///< its channels, its group and its output
    done
};

/// Those decided upon and not yet taken.
using life_steps = boost::container::static_vector<life_step, 4>;

/// What is known of a worker's process and its channels.
struct process_facts {
    bool exists() const noexcept { return pid != 0; }

    int pid = 0;
    int stack_signal = 0; ///< has it print where it is, if it is up; 0: none does
    bool has_greeted = false;
    std::optional<time_point> up_since; ///< the process has served, or serves
    bool has_ended = false;
    bool is_heard_out = false; ///< all that it has sent is known
    std::string stray;         ///< of that: what was no message
    exit_status status;
    exit_verdict verdict;
};

/// The end of a worker that is over, from its departure to reaping. The process may end by itself for a moment, if its
/// channel did; then it prints its stacks, if these tell anything, and is taken through the stop sequence. As soon as it
/// has ended, what it has sent is read, and it is reaped.
class worker_ending {
public:
    explicit worker_ending(const stop_options& options) noexcept : options_(options) {}

    void begin(const departure& reason, time_point now) noexcept;

    /// Appends the next steps, or goes on to the next stage. Returns false if there is nothing to be done yet.
    bool advance(const departure& reason, const process_facts& process, life_steps& steps, time_point now);

    void finish() noexcept { enter(stage::over); }

    time_point deadline() const noexcept {
        return stage_ == stage::stopping ? sequence_->deadline().due() : deadline_;
    }
    bool has_begun() const noexcept { return stage_ != stage::none; }
    bool is_finished() const noexcept { return stage_ == stage::over; }

    /// Whether the stop sequence has begun.
    bool was_stopped() const noexcept { return sequence_.has_value(); }
    stop_stage last_stage() const noexcept { return sequence_ ? sequence_->stage() : stop_stage::none; }
    std::vector<stage_reached> stages() const {
        return sequence_ ? std::vector(sequence_->taken().begin(), sequence_->taken().end())
                         : std::vector<stage_reached>();
    }

private:
    enum class stage { none, aftermath, stacks, stopping, last_reading, reaping, over };

    void enter(stage next, time_point deadline = time_point::max()) noexcept;
    bool wants_stacks(departure_cause cause, const process_facts& process) const noexcept;
    void begin_stopping(const departure& reason, bool was_up, life_steps& steps, time_point now);
    bool advance_stopping(stop_stage urgency, life_steps& steps, time_point now);
    void begin_stop_stage(life_steps& steps);

    const stop_options& options_;
    stage stage_ = stage::none;
    time_point deadline_ = time_point::max(); ///< of a stage that has a simple one
    std::optional<stop_sequence> sequence_;
};

} // namespace skep

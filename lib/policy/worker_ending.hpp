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

/// The next step in a worker's life.
enum class life_step {
    wait,          ///< until an event, or deadline()
    cancel_launch, ///< makes the start return soon
    take_stacks,   ///< makes the process print its stacks
    keep_stacks,   ///< keeps the output so far
    release_calls, ///< releases the worker's calls
    ask,           ///< the stop stages
    terminate,
    kill,
    hear_out, ///< reads the rest of the sent data from the channels
    reap,     ///< collects the exit status, and calls reaped()
    give_up,  ///< the process cannot be ended
    close,    ///< closes the channels, the process group and the output
    done
};

/// Steps decided but not yet taken.
using life_steps = boost::container::static_vector<life_step, 4>;

/// The known facts about a worker's process and its channels.
struct process_facts {
    bool exists = false;
    int pid = 0;          ///< 0 if it is no process of this machine
    int stack_signal = 0; ///< makes the process print its stacks, once up; 0: no signal does
    bool has_greeted = false;
    std::optional<time_point> up_since; ///< set once the process has served
    bool has_ended = false;
    bool is_heard_out = false; ///< all data sent by the process is known
    std::string stray;         ///< data that was no message
    exit_status status;
    exit_verdict verdict;
};

/// The end of a worker that is over, from its departure to reaping. If a channel ended, the process has a
/// moment to end by itself. Then the process prints its stacks, if the stacks are useful, and goes through
/// the stop sequence. As soon as the process has ended, the rest of its data is read and the process is
/// reaped.
class worker_ending {
public:
    explicit worker_ending(const stop_options& options) noexcept : options_(options) {}

    void begin(const departure& reason, time_point now) noexcept;

    /// Appends the next steps, or enters the next stage. Returns false if nothing is to be done yet.
    bool advance(const departure& reason, const process_facts& process, life_steps& steps, time_point now);

    void finish() noexcept { enter(stage::over); }

    time_point deadline() const noexcept {
        return stage_ == stage::stopping ? sequence_->deadline().due() : deadline_;
    }
    bool has_begun() const noexcept { return stage_ != stage::none; }
    bool is_finished() const noexcept { return stage_ == stage::over; }

    /// Returns true if the stop sequence has begun.
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
    time_point deadline_ = time_point::max(); ///< of a stage with a fixed deadline
    std::optional<stop_sequence> sequence_;
};

} // namespace skep

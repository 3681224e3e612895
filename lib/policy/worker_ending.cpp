// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_ending.hpp"

#include <algorithm>

namespace skep {

namespace {

// The longest time between the end of the process and the end of its channels.
constexpr duration aftermath_time = std::chrono::milliseconds(250);

} // namespace

/// After a channel ended by itself, the process usually ends within moments.
void worker_ending::begin(const departure& reason, time_point now) noexcept {
    enter(stage::aftermath, reason.cause == departure_cause::lost_channel ? now + aftermath_time : now);
}

bool worker_ending::advance(const departure& reason, const process_facts& process, life_steps& steps,
                            time_point now) {
    if (stage_ == stage::reaping || stage_ == stage::over) {
        return false;
    }
    if (stage_ == stage::last_reading) {
        const bool is_read = process.is_heard_out || now >= deadline_;
        if (is_read) {
            steps.push_back(life_step::reap);
            enter(stage::reaping);
        }
        return is_read;
    }
    if (stage_ == stage::stopping && !process.has_ended) {
        return advance_stopping(reason.urgency, steps, now);
    }
    if (!process.has_ended && now < deadline_ && reason.urgency != stop_stage::kill) {
        return false;
    }
    if (stage_ == stage::stacks) {
        steps.push_back(life_step::keep_stacks);
    }
    if (process.has_ended) { // data sent before is still to be read
        steps.push_back(life_step::hear_out);
        enter(stage::last_reading, now + aftermath_time);
    } else if (stage_ == stage::aftermath && wants_stacks(reason.cause, process)) {
        steps.push_back(life_step::take_stacks);
        enter(stage::stacks, now + options_.stack_dump_timeout);
    } else {
        begin_stopping(reason, process.up_since.has_value(), steps, now);
    }
    return true;
}

void worker_ending::begin_stopping(const departure& reason, bool was_up, life_steps& steps, time_point now) {
    if (kind_of(reason.cause) == departure_kind::loss) {
        steps.push_back(life_step::release_calls); // the callers need not wait for the worker's end
    }
    const auto least = was_up ? stop_stage::ask : stop_stage::terminate; // can be asked only once up
    sequence_.emplace(options_, std::max(reason.urgency, least), now);
    enter(stage::stopping);
    begin_stop_stage(steps);
}

bool worker_ending::advance_stopping(stop_stage urgency, life_steps& steps, time_point now) {
    const bool goes_on = urgency > sequence_->stage() || sequence_->deadline().has_passed(now);
    if (goes_on) {
        sequence_->advance(now);
        begin_stop_stage(steps);
    }
    return goes_on;
}

void worker_ending::begin_stop_stage(life_steps& steps) {
    switch (sequence_->stage()) {
    case stop_stage::ask: steps.push_back(life_step::ask); break;
    case stop_stage::terminate: steps.push_back(life_step::terminate); break;
    case stop_stage::kill: steps.push_back(life_step::kill); break;
    case stop_stage::lost:
        steps.push_back(life_step::release_calls);
        steps.push_back(life_step::give_up);
        steps.push_back(life_step::close);
        finish();
        break;
    default: break;
    }
}

void worker_ending::enter(stage next, time_point deadline) noexcept {
    stage_ = next;
    deadline_ = deadline;
}

/// Returns true for a worker that is frozen or fails for no visible reason. A worker over its memory limit
/// would go on growing.
bool worker_ending::wants_stacks(departure_cause cause, const process_facts& process) const noexcept {
    const bool is_health_fault =
        kind_of(cause) == departure_kind::fault && cause != departure_cause::memory_limit;
    return process.up_since && process.stack_signal != 0 && options_.stack_dump_timeout > duration::zero() &&
           (is_health_fault || cause == departure_cause::lost_heartbeat);
}

} // namespace skep

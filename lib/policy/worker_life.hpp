// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
#include "core/serving.hpp"
#include "policy/departure.hpp"
#include "policy/recovery.hpp"
#include "policy/worker_ending.hpp"
#include "policy/worker_readiness.hpp"
#include "policy/worker_start.hpp"
#include <skep/pool_config.hpp>
#include <skep/worker_state.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// The life of one worker, from launch to reaping: a state machine without clock, process or channel. The
/// owner reports events and carries out the resulting steps. Every reported failure goes through fail(); the
/// end of the process and the lack of memory are departures by themselves. One departure, which is only
/// raised, says why and how the worker leaves or ends. The stages are the start, the service (see
/// worker_readiness) and the ending.
class worker_life {
public:
    /// `initial_state`: the states of the vacant slot before, if any.
    worker_life(const pool_config& config, moment now,
                std::optional<worker_state_machine> initial_state = {});

    // Events.
    worker_start& start() noexcept { return start_; }
    const worker_start& start() const noexcept { return start_; }
    void launched(int pid) noexcept;
    void launch_failed(errc code, std::string reason, moment now);
    void greeted(int stack_signal) noexcept;
    void came_up(moment now);
    /// All data sent by the worker is known. `stray` describes data that was no message, to explain the
    /// worker's end.
    void data_ended(std::string stray = {}) noexcept;
    void process_ended(moment now);
    void reaped(exit_evidence evidence, moment now);

    /// Ends the life at once, for lack of memory.
    void break_off(std::string reason, moment now);

    /// The worker failed. Returns the reaction.
    recovery_action fail(failure new_failure, moment now);

    /// A probe passed: the worker is no longer degraded.
    void restore(moment now);

    /// The worker has been probed, with any result.
    void dispel_doubt() noexcept { readiness_.set(obstacle::doubted, false); }

    /// Sets whether a probe is due.
    void expect_probe(bool is_due) noexcept { readiness_.set(obstacle::due, is_due); }

    // Orders of the pool.

    /// Takes the worker out of service for good. The worker ends once stopped. Does nothing if the worker
    /// leaves already.
    void retire(departure_cause cause, std::string detail, moment now);
    void suspend() noexcept;
    void resume(bool is_well, moment now);

    /// The suspended worker has no more calls. Returns true if this is new.
    bool drained(moment now);

    /// Sets whether calls or leases take every place. Returns true if the state changed.
    bool set_full(bool is_full, time_point now) noexcept {
        readiness_.set_full(is_full);
        return machine_.set_busy(is_full, now);
    }

    /// Starts the stop sequence at `first`. A later call may begin at a later stage.
    void stop(stop_stage first);

    /// Returns the next step. Called repeatedly; after `wait`, deadline() limits the wait.
    life_step next(moment now);
    time_point deadline() const noexcept;

    // Parts, and facts derived from several parts.
    const worker_state_machine& machine() const noexcept { return machine_; }
    const worker_readiness& readiness() const noexcept { return readiness_; }
    const worker_ending& ending() const noexcept { return ending_; }
    const process_facts& process() const noexcept { return process_; }

    worker_state state() const noexcept { return machine_.state(); }
    bool takes_calls() const noexcept { return readiness_.has_none() && !departure_; }

    /// Returns true if the worker serves or has served.
    bool was_up() const noexcept { return process_.up_since.has_value(); }
    duration uptime(time_point now) const noexcept {
        return was_up() ? now - *process_.up_since : duration::zero();
    }
    bool is_in_service() const noexcept { return was_up() && !departure_; }

    /// Returns true if the worker takes calls, or would with a free place.
    bool is_serving() const noexcept { return skep::is_serving(state(), departure_.has_value()); }

    /// Empty until the worker leaves; never empty after its end.
    const std::optional<skep::departure>& departure() const noexcept { return departure_; }
    bool leaves_for(departure_cause cause) const noexcept { return departure_ && departure_->cause == cause; }

    /// Returns true if the worker leaves and its calls may end first.
    bool is_draining() const noexcept { return departure_ && departure_->urgency == stop_stage::none; }

    /// Returns true once the worker has ended, failed or been told to stop.
    bool is_over() const noexcept { return departure_ && departure_->urgency != stop_stage::none; }

    /// Returns true if the worker is over and its calls end at once.
    bool is_lost() const noexcept { return departure_ && kind_of(departure_->cause) == departure_kind::loss; }

    /// Returns true if the worker was told to stop and can stop gracefully.
    bool is_stopping() const noexcept { return is_over() && !is_lost(); }

private:
    void record(transition_reason code, std::string_view reason, moment now,
                boost::json::object metadata = {}) noexcept;
    void degrade(const failure& new_failure, moment now);
    bool depart(skep::departure reason, moment now) noexcept;
    bool advance(moment now);
    bool advance_start(moment now);
    bool advance_ending(moment now);
    void end(moment now) noexcept;
    worker_state end_state() const noexcept;

    worker_state_machine machine_; ///< the history of the states
    worker_start start_;
    worker_readiness readiness_;
    std::optional<skep::departure> departure_;
    worker_ending ending_;
    process_facts process_;
    life_steps steps_;
};

} // namespace skep

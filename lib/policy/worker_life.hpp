// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
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

/// The life of one worker, from launch to reaping, as a state machine without clock, process or channel: it is told what
/// happens, and says what is to be done. Every failure that is reported passes through fail(); the end of its process and
/// the lack of memory are departures by themselves. Why and how the worker leaves is one departure, which is only raised;
/// its end is one, too. Its stages are those of its start, its service, which its readiness tells of, and its ending.
class worker_life {
public:
    /// `initial_state`: its life while its slot was vacant, if there was one.
    worker_life(const pool_config& config, moment now,
                std::optional<worker_state_machine> initial_state = {});

    // What happens to it.
    worker_start& start() noexcept { return start_; }
    void launched(int pid) noexcept;
    void launch_failed(errc code, std::string reason, moment now);
    void greeted(int stack_signal) noexcept;
    void came_up(moment now);
    /// All that it has sent is known. `stray` tells of what was no message of its own, for whoever asks why it ended.
    void data_ended(std::string stray = {}) noexcept;
    void process_ended(moment now);
    void reaped(exit_evidence evidence, moment now);

    /// Its life cannot go on, for lack of memory: it is over at once.
    void break_off(std::string reason, moment now);

    /// Something went wrong with it. Returns what is done about it.
    recovery_action fail(failure new_failure, moment now);

    /// A probe has found it well: it is no longer degraded.
    void restore(moment now);

    /// It has been probed, whatever that has found.
    void dispel_doubt() noexcept { readiness_.set(obstacle::doubted, false); }

    /// A probe is due, or no longer.
    void expect_probe(bool is_due) noexcept { readiness_.set(obstacle::due, is_due); }

    // Orders of the pool.

    /// Takes the worker out of service for good; it ends once it is stopped. Does nothing if the worker leaves already.
    void retire(departure_cause cause, std::string detail, moment now);
    void suspend() noexcept;
    void resume(bool is_well, moment now);

    /// Suspended, it has no calls any more. True if that is news.
    bool drained(moment now);

    /// Whether every place is taken by a call or kept by a lease. Returns true if its state has changed with it.
    bool set_full(bool is_full, time_point now) noexcept {
        readiness_.set_full(is_full);
        return machine_.set_busy(is_full, now);
    }

    /// Takes it through the stop sequence, beginning at `first`. A later call may begin further on.
    void stop(stop_stage first);

    /// The next thing to do, to be asked again and again; and, when that is to wait, until when.
    life_step next(moment now);
    time_point deadline() const noexcept;

    // Its parts, and what follows from several of them.
    const worker_state_machine& machine() const noexcept { return machine_; }
    const worker_readiness& readiness() const noexcept { return readiness_; }
    const worker_ending& ending() const noexcept { return ending_; }
    const process_facts& process() const noexcept { return process_; }

    worker_state state() const noexcept { return machine_.state(); }
    bool takes_calls() const noexcept { return readiness_.has_none() && !departure_; }

    /// It has served, or serves.
    bool was_up() const noexcept { return process_.up_since.has_value(); }
    duration uptime(time_point now) const noexcept {
        return was_up() ? now - *process_.up_since : duration::zero();
    }
    bool is_in_service() const noexcept { return was_up() && !departure_; }

    /// Nothing before it leaves, and always something once it has ended.
    const std::optional<skep::departure>& departure() const noexcept { return departure_; }
    bool leaves_for(departure_cause cause) const noexcept { return departure_ && departure_->cause == cause; }

    /// Its calls may end first.
    bool is_draining() const noexcept { return departure_ && departure_->urgency == stop_stage::none; }

    /// Nothing is to be expected of it but its end.
    bool is_over() const noexcept { return departure_ && departure_->urgency != stop_stage::none; }

    /// Likewise, and its calls are lost at once.
    bool is_lost() const noexcept { return departure_ && kind_of(departure_->cause) == departure_kind::loss; }

    /// It is told to stop, and can do so in good order.
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

    worker_state_machine machine_; ///< the record of its states
    worker_start start_;
    worker_readiness readiness_;
    std::optional<skep::departure> departure_;
    worker_ending ending_;
    process_facts process_;
    life_steps steps_;
};

} // namespace skep

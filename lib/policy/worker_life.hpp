// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/clock.hpp"
#include "policy/departure.hpp"
#include "policy/patient_deadline.hpp"
#include "policy/recovery.hpp"
#include "policy/stop_sequence.hpp"
#include <skep/exit_class.hpp>
#include <skep/pool_config.hpp>
#include <skep/worker_state.hpp>

#include <boost/container/static_vector.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// Why a worker that stays takes no calls. It takes some only where no reason is left.
enum class obstacle : unsigned {
    not_up = 1,    ///< its handshake is not complete
    degraded = 2,  ///< it failed a probe
    doubted = 4,   ///< it is to be probed first
    suspended = 8, ///< somebody asked for that
    due = 16       ///< its next place that becomes free is for a probe
};

/// The life of one worker, from launch to reaping, as a state machine without clock, process or channel: it is told what
/// happens, and says what is to be done. Every failure passes through fail(), and nothing else ends a worker for one. Why and
/// how the worker leaves is one departure, which is only raised; its end is one, too.
class worker_life {
public:
    /// `begun`: its life while its slot was vacant, if there was one.
    worker_life(const pool_config& config, moment at, std::optional<worker_state_machine> begun = {});

    // What happens to it.
    void launched(int pid) noexcept;
    void launch_failed(errc code, std::string why, moment at);

    /// It waits for a function of the user's initialization_delegate meanwhile; `name` lives for ever.
    void begin_hook(std::string_view name) noexcept { hook_ = name; }
    void end_hook() noexcept { hook_ = {}; }

    void greeted(int stack_signal) noexcept;
    void came_up(moment at);
    /// All that it has sent is known. `stray` tells of what was no message of its own, for whoever asks why it ended.
    void data_ended(std::string stray = {}) noexcept {
        milestones_.data_ended = true;
        stray_ = std::move(stray);
    }
    void process_ended(moment at);
    void reaped(exit_evidence evidence, moment at);

    /// Its life cannot go on, for lack of memory: it is over at once.
    void break_off(std::string why, moment at);

    /// Something went wrong with it. Returns what is done about it.
    recovery_action fail(failure what, moment at);

    /// A probe has found it well: it is no longer degraded.
    void restore(moment at);

    /// It has been probed, whatever that has found.
    void dispel_doubt() noexcept { set(obstacle::doubted, false); }

    /// A probe is due, or no longer.
    void expect_probe(bool is_due) noexcept { set(obstacle::due, is_due); }

    // Orders of the pool.

    /// Takes the worker out of service for good; it ends once it is stopped. Does nothing if the worker leaves already.
    void retire(departure_cause why, std::string detail, moment at);
    void suspend() noexcept;
    void resume(bool is_well, moment at);

    /// Suspended, it has no calls any more. True if that is news.
    bool drained(moment at);

    /// Whether every place is taken by a call or kept by a lease. Returns true if its state has changed with it.
    bool set_full(bool is_full, time_point now) noexcept {
        is_full_ = is_full;
        return machine_.set_busy(is_full, now);
    }
    bool is_full() const noexcept { return is_full_; }

    /// Takes it through the stop sequence, beginning at `first`. A later call may begin further on.
    void stop(stop_stage first);

    /// The next thing to do, to be asked again and again; and, when that is to wait, until when.
    life_step next(moment at);
    time_point deadline() const noexcept;

    bool takes_calls() const noexcept { return obstacles_ == 0 && !departure_; }
    bool is(obstacle reason) const noexcept { return (obstacles_ & static_cast<unsigned>(reason)) != 0; }

    /// It has served, or serves.
    bool was_up() const noexcept { return up_since_.has_value(); }
    std::optional<time_point> up_since() const noexcept { return up_since_; }
    duration uptime(time_point now) const noexcept { return was_up() ? now - *up_since_ : duration::zero(); }
    bool is_in_service() const noexcept { return was_up() && !departure_; }
    bool has_greeted() const noexcept { return milestones_.greeted; }
    bool has_process() const noexcept { return pid_ != 0; }
    bool has_ended() const noexcept { return milestones_.process_ended; }

    bool is_finished() const noexcept { return stage_ == stage::over; }

    /// It gets no calls until a probe has found it well.
    bool awaits_probe() const noexcept { return is(obstacle::doubted) || is(obstacle::degraded); }
    bool is_suspended() const noexcept { return machine_.state() == worker_state::suspended; }

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

    int pid() const noexcept { return pid_; }
    int stack_signal() const noexcept { return stack_signal_; }
    const worker_state_machine& machine() const noexcept { return machine_; }
    worker_state state() const noexcept { return machine_.state(); }
    const exit_status& status() const noexcept { return status_; }
    const exit_verdict& verdict() const noexcept { return verdict_; }
    stop_stage last_stage() const noexcept { return sequence_ ? sequence_->stage() : stop_stage::none; }
    std::vector<stage_reached> stages() const {
        return sequence_ ? std::vector(sequence_->taken().begin(), sequence_->taken().end())
                         : std::vector<stage_reached>();
    }

private:
    enum class stage { launch, handshake, service, aftermath, stacks, stopping, last_reading, reaping, over };

    void set(obstacle reason, bool holds) noexcept;
    worker_state derive_state() const noexcept;
    void record(transition_reason code, std::string_view reason, moment at,
                boost::json::object metadata = {}) noexcept;
    void degrade(const failure& what, moment at);
    void set_health(worker_health health, moment at) noexcept { machine_.set_health(health, at.wall); }
    bool depart(skep::departure why, moment at) noexcept;
    void enter(stage next, time_point deadline = time_point::max()) noexcept;
    bool advance(moment at);
    void run_late(std::string why, moment at);
    bool advance_launch(moment at);
    bool advance_handshake(moment at);
    bool advance_aftermath(moment at);
    bool advance_stacks(moment at);
    bool advance_stopping(moment at);
    bool advance_last_reading(moment at);
    void begin_stopping(moment at);
    void begin_last_reading(time_point now);
    void begin_aftermath(time_point now);
    void begin_stage(stop_stage stage);
    void end(moment at) noexcept;
    bool wants_stacks() const noexcept;
    worker_state end_state() const noexcept;

    /// What has happened so far.
    struct milestones {
        bool launch_over = false;
        bool launch_cancelled = false;
        bool greeted = false;
        bool data_ended = false;
        bool process_ended = false;
    };

    const pool_config& config_;
    worker_state_machine machine_;
    stage stage_ = stage::launch;
    boost::container::static_vector<life_step, 4> steps_; ///< decided upon and not yet taken
    patient_deadline start_deadline_;
    time_point deadline_ = time_point::max(); ///< of a stage that has a simple one
    std::optional<stop_sequence> sequence_;
    unsigned obstacles_ = static_cast<unsigned>(obstacle::not_up);
    milestones milestones_;
    std::string_view hook_;
    std::string stray_;
    int pid_ = 0;
    int stack_signal_ = 0;
    bool is_full_ = false;
    bool is_drained_ = false; ///< and suspended
    std::optional<time_point> up_since_;
    std::optional<skep::departure> departure_;
    exit_status status_;
    exit_verdict verdict_;
};

} // namespace skep

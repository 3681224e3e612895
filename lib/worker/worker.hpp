// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/boundary.hpp"
#include "async/guest_group.hpp"
#include "async/task_group.hpp"
#include "policy/growth_watch.hpp"
#include "policy/heartbeat.hpp"
#include "policy/recycle_plan.hpp"
#include "policy/worker_life.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "telemetry/log.hpp"
#include "worker/call_table.hpp"
#include "worker/health_check.hpp"
#include "worker/initialization.hpp"
#include "worker/link.hpp"
#include "worker/tool_desk.hpp"
#include "worker/worker_event.hpp"
#include "worker/worker_records.hpp"
#include <skep/pool_status.hpp>
#include <skep/shutdown_report.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// Where the answers of a worker's calls go: straight to their callers, as events would cost time. The call is no longer
/// the worker's then.
class answer_handler {
public:
    virtual void on_result(worker& sender, call& answered, result_message& answer, time_point now) = 0;
    virtual void on_remote_error(worker& sender, call& answered, error_message& answer) = 0;

    /// A piece of a stream, which goes on.
    virtual void on_chunk(call& receiver, chunk_message& piece) = 0;

    /// Something that its code logs.
    virtual void on_log(const worker& sender, const log_message& said) noexcept = 0;

    /// Whether it may be at a probe now that nobody has asked for.
    virtual bool may_be_probed(const worker& one) const noexcept = 0;

    /// A call that was pipelined may have begun now, though its caller no longer waits.
    virtual void on_begun_in_vain(call& begun) = 0;

protected:
    ~answer_handler() = default;
};

/// What a worker is made of: its pool's.
struct worker_surroundings {
    const pool_context& context;
    const pool_config& config;
    runtime& starter;
    answer_handler& answers;
    boundary& limit; ///< where exceptions end that leave the worker's tasks
    event_queue& events;
    const tool_table& tools;
    std::weak_ptr<void> owner; ///< of all these: outlives the worker
};

/// A call that is lost with its worker.
struct lost_call_notice {
    call_ptr lost;
    bool may_have_begun;
    bool
        is_to_blame; ///< the only one that the worker can have been at when it crashed, broke the protocol or outgrew its
                     ///< hard memory limit
};

/// One incarnation of a slot: a process, what connects it, the calls it has, from launch to reaping. It wires its parts
/// together; what is to be done when is up to its worker_life. run() is that life; every other function is called on the
/// pool's strand meanwhile.
class worker final : public std::enable_shared_from_this<worker>, private link_user {
public:
    /// `begun`: its life while its slot was vacant, if there was one.
    worker(const worker_surroundings& around, worker_id id, std::optional<worker_state_machine> begun = {});

    asio::awaitable<void> run();

    const worker_id& id() const noexcept { return id_; }
    const worker_life& life() const noexcept { return life_; }
    health_check& health() noexcept { return health_; }
    const health_check& health() const noexcept { return health_; }

    // Calls.

    /// Whether it can begin another call now.
    bool accepts_call() const noexcept { return takes_calls() && calls_.has_place(); }

    /// Whether it is at capacity, but a call may be sent all the same, to be begun as soon as it can.
    bool accepts_pipelined_call() const noexcept {
        return takes_calls() && calls_.reserved() == 0 && calls_.is_full() &&
               calls_.load() < calls_.capacity() + around_.config.pipeline_depth;
    }
    std::size_t load() const noexcept { return calls_.load(); }

    /// Whether it can be sent calls at all.
    bool takes_calls() const noexcept {
        return life_.takes_calls() && link_->data().unsent() <= around_.config.limits.frame_bytes;
    }

    /// Whether a call may only go to the worker of its session.
    bool is_strictly_bound(const call& of) const noexcept {
        return of.has_session() &&
               of.req.affinity().value_or(around_.config.affinity.mode) != affinity_mode::hint;
    }

    // Places that leases keep.
    void reserve(std::size_t places) noexcept {
        calls_.reserve(places);
        follow_load(around_.context.now());
    }
    void release(std::size_t places) noexcept {
        calls_.release(places);
        follow_load(around_.context.now());
    }
    bool is_leased() const noexcept { return calls_.reserved() > 0; }

    /// Calls that no lease has made.
    std::size_t common_load() const noexcept { return calls_.common_load(); }
    std::size_t capacity() const noexcept { return calls_.capacity(); }
    bool is_pipelined(const call& sent) const noexcept { return calls_.is_pipelined(sent); }

    /// Sends the call. If it throws (out of memory), the worker is none the worse for it.
    void assign(call& next, time_point now);

    /// The same for a call that the pool does not know of: its answer goes straight to its sink, and it keeps the worker
    /// from nothing.
    void assign_private(call& next);

    /// Nobody waits for that one any more: no tool works for it. The worker is not told, unless by cancel().
    void abandon_private(call& given_up) noexcept {
        given_up.state = call_state::abandoned;
        tools_.cancel(given_up);
    }

    /// Tells the worker that nobody waits for the call any more. Its place stays taken until the worker answers.
    void cancel(const call& given_up);

    /// Lets the worker send more chunks of a stream that it has.
    void grant(const call& stream, stream_credit more);

    /// Private ones, and those that were given up, too.
    template <class Act>
    void for_each_call(Act&& act) const {
        calls_.for_each(calls_.load(), act);
    }

    /// Whether it waits for a tool during that call.
    bool is_asking(const call& caller) const noexcept { return tools_.is_asked_by(caller); }

    /// The request's, or the one made for it.
    std::string correlation_id_of(const call& sent) const;

    /// Of the calls that it is at, as far as can be known; see output_line.
    std::vector<std::string> correlation_ids() const;

    /// Of the call that it is at under that correlation id; empty if there is none, or it has none.
    std::string session_of(std::string_view correlation_id) const;

    /// After calls_lost: the calls that get no answer, last sent first.
    std::optional<lost_call_notice> take_lost_call();

    // Changes.

    /// Something went wrong with it: the recovery policy decides what follows.
    void report(failure what);

    /// Takes it out of service for good; it ends once nobody waits for a call on it.
    void retire(departure_cause why, std::string detail);

    /// A retired worker may be at nothing any more that somebody waits for.
    void end_if_drained();

    /// No more calls; suspended once those it has are answered. Does nothing if it is or has left service.
    void suspend();
    void resume();

    /// Takes it through the stop sequence, beginning at `first`. A later call may begin further on.
    void stop(stop_stage first);

    /// SIGKILL to its process, before end_now().
    void kill() noexcept;

    /// Ends its process, blocking, and closes its descriptors. For when no coroutine will ever run again.
    void end_now() noexcept;

    /// The generation whose place it takes, and how that one ended if that is known: for its welcome. Of no effect
    /// afterwards.
    void follow(std::uint64_t generation, std::optional<exit_class> ended_as) noexcept {
        origin_.predecessor = generation;
        origin_.predecessor_ended_as = ended_as;
    }
    std::uint64_t follows() const noexcept { return origin_.predecessor; }

    // Sessions that it serves, and those of them that are strictly bound to it.
    void add_session() noexcept { ++tally_.sessions; }
    void remove_session() noexcept { --tally_.sessions; }
    void bind_session() noexcept { ++tally_.bound_sessions; }
    void release_session() noexcept { --tally_.bound_sessions; }
    void lose_sessions() noexcept { tally_.sessions = tally_.bound_sessions = 0; }

    /// Whether it is to stay for their sake, or for that of a lease.
    bool is_held() const noexcept {
        const bool waits_for_sessions = around_.config.affinity.on_recycle == affinity_on_recycle::wait;
        return is_leased() || (tally_.bound_sessions > 0 && waits_for_sessions);
    }

    /// Sends a ping for the user, with or without a heartbeat, and returns its number.
    std::uint64_t ping_now();
    std::uint64_t last_pong() const noexcept { return heartbeat_ ? heartbeat_->last_answered() : 0; }

    // For its health check.

    /// A probe never waits behind a call. One that shows only that the worker answers comes when it has nothing to do, any
    /// other as soon as a place is free. One that was sent is waited for.
    bool is_probeable() const noexcept;
    bool may_be_probed() const noexcept { return around_.answers.may_be_probed(*this); }

    /// Its next place that becomes free is for a probe, or for calls again.
    void expect_probe(bool is_due);
    void restore();
    void dispel_doubt();
    void tell_room() { tell(room_changed{}); }

    // What is known of it.

    /// Whether it is to make room for another.
    recycle_plan::verdict judge_recycling(time_point now, bool with_memory);

    /// Whether it has become too large, but not by its calls.
    bool is_too_large_in_vain() const noexcept { return recycle_ && recycle_->is_in_vain(); }

    /// Whether its memory can be known; to be asked once it is up.
    bool is_measured() const noexcept { return is_measured_; }
    time_point recycle_due() const noexcept { return recycle_ ? recycle_->due() : time_point::max(); }
    bool is_used_up() const noexcept { return recycle_ && recycle_->is_used_up(tally_.completed); }

    /// Up, and neither at a call nor leased nor suspended.
    bool is_idle() const noexcept {
        return life_.is_in_service() && calls_.empty() && !is_leased() && !life_.is(obstacle::suspended);
    }
    time_point last_assigned() const noexcept { return tally_.last_assigned; }
    std::uint64_t completed() const noexcept { return tally_.completed; }

    /// When it was asked for.
    time_point asked_for() const noexcept { return origin_.asked_for; }
    duration uptime(time_point now) const noexcept {
        return life_.was_up() ? now - *life_.up_since() : duration::zero();
    }
    std::uint64_t output_lines_dropped() const noexcept;

    /// What is known about its end, as the base of an error.
    error_info describe() const;
    worker_status status(time_point now) const;

    /// How it ended; to be asked once it has.
    worker_exit exit() const;

private:
    struct tally {
        std::uint64_t completed = 0;
        std::uint64_t errors = 0;
        std::uint64_t missed_pings = 0;
        std::size_t sessions = 0;
        std::uint64_t awaited_pong = 0; ///< the last one that somebody waits for
        std::size_t bound_sessions = 0; ///< strictly
        time_point last_assigned;
    };
    /// What it is begun with.
    struct origin {
        time_point asked_for;
        std::string token;
        std::uint64_t predecessor = 0; ///< generation
        std::optional<exit_class> predecessor_ended_as;
    };
    /// What others have been told of it.
    struct told {
        std::uint64_t transitions = 0;
        bool has_left = false;
    };
    /// How many of its calls it may have begun, once they are lost.
    struct loss {
        std::size_t may_have_begun;
        bool is_one_to_blame;
    };

    asio::awaitable<void> live();
    asio::awaitable<void> take(life_step step);
    void on_task_failed(const std::exception_ptr& problem) noexcept;
    void end_with_pool(const std::exception_ptr& problem) noexcept;
    duration patience_for_first() const noexcept;
    asio::awaitable<void> linger();
    asio::awaitable<void> launch();
    asio::awaitable<void> watch_process();
    void collect();
    asio::awaitable<void> beat();
    void ping();
    void send_ping(std::uint64_t number);

    moment at() const { return around_.context.present(); }
    void tell(decltype(worker_event::fact) fact);

    /// To be called after whatever may have changed its life.
    void follow_life();
    void show_drained();

    /// To be called after whatever may have taken a place or freed one. `subject`: the call that has.
    void follow_load(time_point now, const call* subject = nullptr) noexcept {
        const bool is_full = !calls_.has_place();
        if (is_full != life_.is_full() && life_.set_full(is_full, now)) {
            tell_flip(now, subject);
        }
    }
    void tell_flip(time_point now, const call* subject) noexcept;
    std::uint64_t look_at_memory(time_point now);
    void release_calls();
    bool is_end_by_call() const noexcept;

    void tell_failure(failure_kind kind, recovery_action action, const std::string& detail) const;

    /// Those that nobody was told of yet.
    void tell_transitions() noexcept;

    void on_message(worker_message& message) override;
    void on_sign_of_life() override;
    void on_backlog_shrunk() override;
    void on_data_ended(std::string stray) override;
    void on_broken(failure what) override;
    void on_hello(hello_message& hello);
    void on_ready();
    asio::awaitable<void> warm_up();
    void begin_service();
    void on_result(result_message& result);
    void on_chunk(chunk_message& piece);
    void on_error(error_message& error);
    void on_progress(progress_message& message);
    void on_tool_call(tool_call_message& asked);
    std::shared_ptr<tool_desk> tools() { return {shared_from_this(), &tools_}; }
    void on_pong(const pong_message& pong);
    void on_log(const log_message& said);
    call_ptr take_call(std::uint64_t id, time_point now);
    void end_private();
    void count_answer();
    void watch_begun_in_vain();
    void after_answer();

    const worker_surroundings& around_;
    worker_id id_;
    origin origin_;
    std::string correlation_; ///< what the ids begin with that are made for its calls
    worker_life life_;
    guest_group guests_; ///< the user's coroutines that concern it
    initialization initialization_;
    health_check health_;
    call_table calls_;
    tool_desk tools_;
    worker_records records_;
    tally tally_;
    told told_;
    std::optional<link> link_;
    std::unique_ptr<worker_process> process_;
    std::optional<heartbeat_monitor> heartbeat_;
    std::optional<recycle_plan> recycle_;
    growth_watch growth_;
    std::optional<loss> loss_;
    std::string stacks_;
    bool is_measured_ = false;
    bool lingers_ = false;
    gate wake_;          ///< something that live() waits for may have happened
    task_group tasks_;   ///< the launch, and what goes with the process and its channels
    task_group service_; ///< what looks after it while it serves
};

/// An entry of the history of worker `who`, as an event.
events::worker_transition told_of(const transition& passed, const worker_id& who);

/// Adds what a worker's life says of itself.
void describe_life(worker_status& status, const worker_state_machine& life, moment at);

/// For messages about it.
inline log_subject subject_of(const worker& one) {
    log_subject subject;
    subject.worker = &one.id();
    subject.pid = one.life().pid();
    return subject;
}

} // namespace skep

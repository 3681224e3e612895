// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "policy/health_monitor.hpp"
#include "policy/heartbeat.hpp"
#include "policy/recovery.hpp"
#include "policy/recycle_plan.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "telemetry/log.hpp"
#include "wire/host_messages.hpp"
#include "worker/call.hpp"
#include "worker/channel.hpp"
#include <skep/exit_class.hpp>
#include <skep/pool_status.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/worker_state.hpp>

#include <boost/container/flat_map.hpp>

#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace skep {

class worker;

/// What a worker tells its pool. All calls come on the pool's strand.
class worker_events {
public:
    virtual void on_ready(worker& from) = 0;
    virtual void on_result(worker& from, call& which, result_message& answer) = 0;
    virtual void on_remote_error(worker& from, call& which, error_message& answer) = 0;

    /// Whether it takes calls may have changed: it has taken what it was sent, or its health or suspension has.
    virtual void on_room(worker& from) = 0;

    /// Something is wrong with it; `failures` of the kind in a row, of which `limit` remove it.
    virtual void on_failure(worker& from, failure_kind kind, int failures, int limit, std::string detail) = 0;

    /// It has answered as many calls as it is meant to.
    virtual void on_used_up(worker& from) = 0;

    /// suspend() has been done.
    virtual void on_suspended(worker& from) = 0;

    /// It takes no more calls, for whatever reason. Comes once, before any on_call_lost.
    virtual void on_out_of_service(worker& from) = 0;

    /// The call will get no answer from this worker. Must not throw.
    virtual void on_call_lost(worker& from, call_ptr which, bool may_have_begun) = 0;

    /// All calls that are lost with a worker have been told, last sent first: time to send them elsewhere.
    virtual void on_calls_released() = 0;

    /// A call that was sent ahead may have begun now, though its caller no longer waits.
    virtual void on_begun_in_vain(worker& from, call& which) = 0;

    /// Its process is gone and so is everything that belonged to it. The last event.
    virtual void on_ended(worker& from) = 0;

protected:
    ~worker_events() = default;
};

/// Why a worker went out of service by itself.
struct worker_failure {
    errc code;
    std::string detail;
};

/// Why a worker is taken out of service for good.
struct retirement {
    enum class kind {
        unwell,    ///< for what it did
        oversized, ///< for the memory it holds
        recycle,   ///< a fresh one takes its place
        surplus    ///< it is no longer needed
    };

    kind what;
    std::string reason;
};

/// Whether the worker is to blame.
inline bool is_unplanned(const retirement& why) noexcept {
    return why.what == retirement::kind::unwell || why.what == retirement::kind::oversized;
}

/// One incarnation of a slot: a process, its channels, the calls it has, from launch to reaping. run() is its
/// whole life; every other function is called on the pool's strand meanwhile.
class worker : public std::enable_shared_from_this<worker> {
public:
    worker(const pool_context& context, const pool_config& config, worker_id id, runtime& starter,
           worker_events& events, const pool_log& log);

    asio::awaitable<void> run();

    /// Whether it can begin another call now.
    bool accepts_call() const noexcept { return takes_calls() && load() < capacity_; }

    /// Whether it is at capacity, but a call may be sent ahead to it.
    bool accepts_call_ahead() const noexcept {
        return takes_calls() && load() >= capacity_ && load() < capacity_ + config_.pipeline_depth;
    }

    /// True if the worker cannot have begun the call yet: it begins calls in the order sent, no more than its
    /// capacity at a time, and answers one before it begins the next.
    bool is_ahead(const call& which) const noexcept;

    /// Sends the call. If it throws (out of memory), the worker is none the worse for it.
    void assign(call& next, time_point now);

    /// Tells the worker that nobody waits for the call any more. Its place stays taken until the worker
    /// answers.
    void cancel(const call& which);

    /// Takes it out of service for good; it keeps the calls it has.
    void retire(retirement why);

    bool is_retired() const noexcept { return retired_.has_value(); }

    /// Retired, failed or dead: what it is and what it does from now on changes nothing any more.
    bool is_leaving() const noexcept { return retired_ || failure_ || process_ended_; }
    const std::optional<retirement>& why_retired() const noexcept { return retired_; }

    /// Takes it out of rotation until a probe finds it well.
    void degrade(std::string reason);

    /// No more calls; suspended once those it has are answered. Does nothing if it is or has left service.
    void suspend();
    void resume();
    bool is_suspended() const noexcept { return machine_.state() == worker_state::suspended; }
    bool is_suspending() const noexcept { return suspending_; }

    /// It gets no calls until a probe has found it well.
    bool is_doubted() const noexcept { return probe_wanted_ || machine_.state() == worker_state::degraded; }

    /// Whether it has a health check that looks at more than that it answers.
    bool has_own_health_check() const noexcept { return health_ && own_health_check_; }

    /// Has it probed before it gets another call.
    void probe_at_once();

    /// Whether it is to make room for another.
    recycle_plan::verdict judge_recycling(time_point now, bool with_memory) const;
    bool is_used_up() const noexcept { return used_up_; }
    time_point recycle_due() const noexcept { return recycle_ ? recycle_->due() : time_point::max(); }

    /// The generation whose place it takes, and how that one ended if that is known: for its welcome. Of no effect
    /// afterwards.
    void follow(std::uint64_t generation, std::optional<exit_class> ended_as) noexcept {
        follows_ = generation;
        previous_exit_ = ended_as;
    }
    std::uint64_t follows() const noexcept { return follows_; }

    /// It was told to stop while nothing was wrong with it.
    bool is_stopping() const noexcept { return stopping_; }

    /// Takes it down the stop ladder, beginning at `first`. A later call may begin lower.
    void stop(stop_rung first);

    /// Ends its process, blocking, and closes its descriptors. For when no coroutine will ever run again.
    void end_now() noexcept;

    const worker_id& id() const noexcept { return id_; }
    std::size_t load() const noexcept { return calls_.size(); }
    std::size_t capacity() const noexcept { return capacity_; }
    bool was_ready() const noexcept { return ready_since_.has_value(); }
    duration uptime(time_point now) const noexcept {
        return ready_since_ ? now - *ready_since_ : duration::zero();
    }
    bool had_process() const noexcept { return pid_ != 0; }
    std::uint64_t completed() const noexcept { return completed_; }

    /// Ready, and neither at a call nor suspended.
    bool is_idle() const noexcept { return in_service_ && calls_.empty() && !suspending_; }
    time_point last_assigned() const noexcept { return last_assigned_; }
    worker_state state() const noexcept { return machine_.state(); }
    exit_class exit_kind() const noexcept { return verdict_.kind; }
    std::uint64_t missed_pings() const noexcept { return missed_pings_; }
    std::uint64_t output_lines_dropped() const noexcept;

    /// In on_call_lost: whether the call is to blame. It was the only one that the worker can have been at when it
    /// crashed or broke the protocol.
    bool blames_call() const noexcept {
        const bool lied = failure_ && failure_->code == errc::protocol_error;
        return lost_alone_ && (lied || is_crash(verdict_.kind));
    }

    /// True if it can have begun no call whose caller still waits.
    bool is_drained() const noexcept;

    /// Why it failed, if it did: for errors and logs.
    const std::optional<worker_failure>& failure() const noexcept { return failure_; }

    /// What is known about its end, as the base of an error.
    error_info describe() const;

    worker_status status(time_point now);

    /// How it ended; to be asked in on_ended.
    worker_exit exit() const;

private:
    struct flight {
        call_ptr which;
        std::uint64_t begin; ///< where its frame begins in the data stream
    };

    // The stages of run(), in order.
    asio::awaitable<void> live();
    asio::awaitable<void> launch();
    asio::awaitable<void> await_ready();
    asio::awaitable<void> await_end();
    asio::awaitable<void> await_aftermath();
    asio::awaitable<void> descend();
    asio::awaitable<void> settle();
    asio::awaitable<void> collect();

    // Tasks that run beside it.
    asio::awaitable<void> guard_launch();
    asio::awaitable<void> watch_process();
    asio::awaitable<void> read_data();
    asio::awaitable<void> read_control();
    asio::awaitable<void> write_data();
    asio::awaitable<void> write_control();
    asio::awaitable<void> beat();
    asio::awaitable<void> watch_health();

    // Health; see worker_health.cpp.
    asio::awaitable<std::string> probe();
    asio::awaitable<std::string> probe_by_command();
    asio::awaitable<std::string> probe_by_function();
    asio::awaitable<void> take_stacks();
    bool has_probe() const noexcept;
    duration probe_phase() const;
    bool is_probeable() const noexcept;
    void judge_probe(const std::string& complaint);
    void settle_probe(const std::string& complaint);
    void note_failure(std::string detail);
    void note_error(const error_message& error);
    void show_suspension();
    bool wants_stacks() const noexcept;

    bool takes_calls() const noexcept {
        return in_service_ && !suspending_ && !probe_wanted_ && machine_.state() != worker_state::degraded &&
               data_->unsent() <= config_.limits.frame_bytes;
    }
    bool is_over() const noexcept { return process_ended_ || failure_ || stop_from_; }
    void fail(errc code, std::string detail);
    void leave_service();
    void move_to(worker_state state, std::string reason);
    void show_load();
    void take_rung(stop_rung rung);
    void release_calls();
    void note_own_end();
    void judge_end();
    worker_state end_state() const;
    void log_end() const;
    void schedule_flush();

    void on_message(hello_message& hello);
    void on_message(ready_message& ready);
    void on_message(result_message& result);
    void on_message(error_message& error);
    void on_message(pong_message& pong);
    call_ptr take_call(std::uint64_t id);
    void count_answer();
    void after_answer();
    template <class Function>
    void hand_on(const call_ptr& which, Function&& answer);

    const pool_context& context_;
    const pool_config& config_;
    worker_id id_;
    runtime& runtime_;
    worker_events& events_;
    const pool_log& log_;

    worker_state_machine machine_;
    std::string token_;
    std::optional<heartbeat_monitor> heartbeat_;
    std::optional<health_monitor> health_;
    std::optional<recycle_plan> recycle_;
    std::optional<channel> data_;
    std::optional<channel> control_;
    std::unique_ptr<worker_process> process_;
    int pid_ = 0;

    boost::container::flat_map<std::uint64_t, flight> calls_; ///< in the order sent
    std::uint64_t next_id_ = 1;
    std::size_t capacity_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t errors_ = 0;
    time_point last_assigned_;
    std::uint64_t missed_pings_ = 0;

    task_group tasks_;
    gate wake_;                     ///< something that run() waits for may have happened
    gate beat_now_;                 ///< the heartbeat task is to look up
    gate launch_over_;              ///< start() of the runtime has returned, or is to
    gate look_now_;                 ///< the health task is to look up
    gate probe_over_;               ///< the probe under way may have ended
    bool probe_unanswered_ = false; ///< calls_ holds one
    std::string probe_complaint_;
    std::string probe_command_;
    bool own_health_check_ = false;
    bool probe_wanted_ = false; ///< before the next call
    int stack_signal_ = 0;
    bool said_hello_ = false;
    bool in_service_ = false;
    bool left_service_ = false;
    bool suspending_ = false;
    bool used_up_ = false;
    std::optional<retirement> retired_;
    bool data_ended_ = false;
    bool process_ended_ = false;
    bool ended_by_itself_ = false;
    bool flush_scheduled_ = false;
    bool lost_alone_ = false;
    patient_deadline start_deadline_;
    time_point welcomed_;
    std::optional<time_point> ready_since_;
    std::uint64_t follows_ = 0;
    std::optional<exit_class> previous_exit_;
    std::optional<stop_rung> stop_from_;
    bool stopping_ = false;
    std::optional<worker_failure> failure_;
    std::vector<rung_reached> rungs_;
    exit_status status_;
    exit_verdict verdict_;
    std::string stacks_;
};

} // namespace skep

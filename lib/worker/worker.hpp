// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "policy/heartbeat.hpp"
#include "process/runtime.hpp"
#include "telemetry/log.hpp"
#include "wire/host_messages.hpp"
#include "worker/call.hpp"
#include "worker/channel.hpp"
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

    /// It has taken what it was sent, and may have room for more.
    virtual void on_room(worker& from) = 0;

    /// It takes no more calls, for whatever reason. Comes once, before any on_call_lost.
    virtual void on_out_of_service(worker& from) = 0;

    /// The call will get no answer from this worker.
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

/// One incarnation of a slot: a process, its channels, the calls it has, from launch to reaping. run() is its
/// whole life; every other function is called on the pool's strand meanwhile.
class worker : public std::enable_shared_from_this<worker> {
public:
    worker(const strand& executor, const pool_config& config, worker_id id, runtime& starter,
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

    /// Takes it out of service; it keeps the calls it has.
    void retire();

    bool is_retired() const noexcept { return retired_; }
    bool is_stopping() const noexcept { return stop_from_.has_value(); }

    /// Takes it down the stop ladder, beginning at `first`. A later call may begin lower.
    void stop(stop_rung first);

    /// Ends its process, blocking, and closes its descriptors. For when no coroutine will ever run again.
    void end_now() noexcept;

    const worker_id& id() const noexcept { return id_; }
    std::size_t load() const noexcept { return calls_.size(); }
    bool was_ready() const noexcept { return ready_since_.has_value(); }
    duration uptime(time_point now) const noexcept {
        return ready_since_ ? now - *ready_since_ : duration::zero();
    }
    std::uint64_t completed() const noexcept { return completed_; }
    std::uint64_t missed_pings() const noexcept { return missed_pings_; }
    std::uint64_t output_lines_dropped() const noexcept;

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

    bool takes_calls() const noexcept { return in_service_ && data_->unsent() <= config_.limits.frame_bytes; }
    bool is_over() const noexcept { return process_ended_ || failure_ || stop_from_; }
    void fail(errc code, std::string detail);
    void leave_service();
    void move_to(worker_state state, std::string reason);
    void show_load();
    void take_rung(stop_rung rung);
    void release_calls();
    void note_own_end();
    worker_state end_state() const;
    void log_end() const;
    void schedule_flush();

    void on_message(hello_message& hello);
    void on_message(ready_message& ready);
    void on_message(result_message& result);
    void on_message(error_message& error);
    void on_message(pong_message& pong);
    call_ptr take_call(std::uint64_t id);

    strand executor_;
    const pool_config& config_;
    worker_id id_;
    runtime& runtime_;
    worker_events& events_;
    const pool_log& log_;

    worker_state_machine machine_;
    std::string token_;
    std::optional<heartbeat_monitor> heartbeat_;
    std::optional<channel> data_;
    std::optional<channel> control_;
    std::unique_ptr<worker_process> process_;
    pid_t pid_ = 0;

    boost::container::flat_map<std::uint64_t, flight> calls_; ///< in the order sent
    std::uint64_t next_id_ = 1;
    std::size_t capacity_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t missed_pings_ = 0;

    task_group tasks_;
    gate wake_;        ///< something that run() waits for may have happened
    gate beat_now_;    ///< the heartbeat task is to look up
    gate launch_over_; ///< start() of the runtime has returned, or is to
    bool said_hello_ = false;
    bool in_service_ = false;
    bool left_service_ = false;
    bool retired_ = false;
    bool data_ended_ = false;
    bool process_ended_ = false;
    bool ended_by_itself_ = false;
    bool flush_scheduled_ = false;
    time_point start_deadline_;
    std::optional<time_point> ready_since_;
    std::optional<stop_rung> stop_from_;
    std::optional<worker_failure> failure_;
    std::vector<rung_reached> rungs_;
    exit_status status_;
};

} // namespace skep

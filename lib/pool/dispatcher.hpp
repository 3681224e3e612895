// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/gate.hpp"
#include "policy/deadline_heap.hpp"
#include "pool/call_list.hpp"
#include "pool/lost_call_policy.hpp"
#include "telemetry/log.hpp"
#include "worker/worker.hpp"
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <memory>
#include <vector>

namespace skep {

/// What a dispatcher asks of its pool.
class dispatcher_events {
public:
    /// The worker is still at a call that was given up, though cancel_grace is over.
    virtual void on_overdue(worker& which) = 0;

    /// A call on the worker was given up because it took too long.
    virtual void on_timeout(worker& at, const call& which) = 0;

    /// Why there are fewer workers than there should be; empty if there are not.
    virtual std::string shortage() const = 0;

    /// Callers have begun to wait.
    virtual void on_waiting() = 0;

protected:
    ~dispatcher_events() = default;
};

/// Brings calls to workers: one shared queue, late binding. Every call that is submitted is completed exactly
/// once here, by an answer, an error, its deadline or its caller. On the pool's strand.
class dispatcher {
public:
    /// Throws error(invalid_config) if there is to be a custom scheduler and none is made.
    dispatcher(const pool_context& context, const pool_config& config, dispatcher_events& events,
               const pool_log& log);

    void submit(const call_ptr& which);

    /// The caller of `which` no longer waits.
    void cancel(call& which, asio::cancellation_type type);

    /// Refuses a call outright.
    void reject(call& which, errc code, error_info info = {});

    /// The worker can take calls from now on.
    void enlist(worker& fresh);

    /// The worker takes no calls from now on.
    void dismiss(worker& gone);

    void on_result(worker& from, call& which, result_message& answer);
    void on_remote_error(worker& from, call& which, error_message& answer);
    void on_call_lost(worker& from, const lost_call_notice& notice);
    void serve_free();
    void on_room(worker& from);
    void on_begun_in_vain(call& which);

    /// Refuses every call that waits, for a worker or to be sent again.
    void fail_queue(errc code, const error_info& info);

    /// Ends every call that a worker has.
    void abort_running(errc code, const error_info& info = {});

    /// Ends every open call with `code`; returns how many there were.
    std::size_t abort_all(errc code);

    /// Destroys what would resume the callers. For when no coroutine will ever run again.
    void forget_callers() noexcept;

    /// Acts on deadlines until close().
    asio::awaitable<void> watch_deadlines();
    void close();
    void reopen() noexcept { closed_ = false; }

    /// Returns when no call is open, or at `limit`.
    asio::awaitable<void> drain(time_point limit);

    std::size_t queued() const noexcept { return queue_.size() + delayed_.size(); }
    bool is_queue_empty() const noexcept { return queue_.empty(); }

    /// When the oldest call of the queue was submitted.
    time_point oldest() const noexcept { return queue_.front().submitted; }
    double retry_tokens() const noexcept { return losses_.tokens(); }

    /// Time that workers have spent at calls, in total.
    duration work_done(time_point now);

    std::size_t in_flight() const noexcept { return running_.size(); }
    const pool_counters& counters() const noexcept { return counters_; }

private:
    void place(const call_ptr& which);
    void enqueue(const call_ptr& which, bool at_front, time_point now);
    void dispatch(const call_ptr& which, worker& to, time_point now);
    void serve_queue(worker& with, time_point now);
    void refresh(worker& which);
    worker* pick();
    worker* pick_by(scheduler& who, bool (worker::*accepts)() const noexcept);
    void abandon(call& which, errc code, error_info info = {});
    void grant_grace(call& which);
    void expire(call& which);
    void fail_waiting(call& which);
    bool is_any_up() const noexcept;
    void give_back(worker& from, const lost_call_notice& notice);
    void delay(const call_ptr& which, duration wait);
    void resume_delayed(const call_ptr& which);
    void settle_late(worker& from, call& which);
    void fail(call& which, errc code, error_info info = {});
    std::unique_ptr<suspended_caller> close_call(call& which);
    void set_deadline(call& which, time_point due);

    const pool_config& config_;
    dispatcher_events& events_;
    const pool_context& context_;
    std::unique_ptr<scheduler> scheduler_; ///< workers that can begin a call now
    std::unique_ptr<scheduler> pipelined_; ///< workers at capacity that a call can be pipelined to
    std::vector<worker*> in_service_;      ///< by slot
    call_list queue_;
    call_list delayed_;
    call_list running_;
    deadline_heap deadlines_;
    gate deadline_moved_;
    time_point armed_ = time_point::max();
    gate drained_;
    bool closed_ = false;
    lost_call_policy losses_;
    duration work_done_{};
    pool_counters counters_;
};

} // namespace skep

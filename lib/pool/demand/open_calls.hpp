// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "pool/demand/calls_in_flight.hpp"
#include "pool/demand/session_router.hpp"
#include "pool/demand/waiting_room.hpp"
#include "telemetry/call_recorder.hpp"
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <cstddef>
#include <optional>

namespace skep {

/// The open calls of a pool: moves each call from one state to the next, and ends it exactly once, with an
/// answer or an error. On the pool's strand.
class open_calls {
public:
    open_calls(const worker_surroundings& surroundings, waiting_room& room, session_router& sessions);

    /// The call waits: last in the queue, or first.
    void enqueue(call& waiting_call, bool at_front, time_point now);

    /// The worker has the call from now on.
    void begin(call& next, worker& target, time_point now);

    /// A worker has given back a call that it had not begun: the call waits, before all others.
    void recall(call& recalled_call, time_point now);

    // A call that was lost with its worker is sent again: taken back, then queued, at once or after a delay.
    void take_back(call& lost_call, time_point now);
    void delay(call& lost_call, duration wait);
    void resume(call& delayed_call);

    // The call is over.
    void succeed(call& answered_call, time_point now);
    void fail(call& failed_call, errc code, error_info info = {});

    /// The same for a waiting call. Claims held up behind a call that could not be pipelined are served.
    void leave_queue(call& waiting_call, errc code, error_info info = {});

    /// Answers the caller now; the worker has cancel_grace to end the call.
    void abandon(call& running_call, errc code, error_info info = {});

    /// From now on the worker has cancel_grace to end the call.
    void grant_grace(call& abandoned_call);

    /// The worker has ended an abandoned call.
    void end_abandoned(call& abandoned_call);

    /// The pool has failed: ends the call in any state. A worker that still has the call will not answer.
    void break_off(call& broken_call, const error& cause) noexcept;

    /// Fails every call that waits for a worker, a place or a retry. Returns the number of calls.
    /// Precondition: no checkout waits.
    std::size_t fail_queue(errc code, const error_info& info);

    // For leases: fail the waiting calls, or abandon the running calls.
    void fail_waiting_in(lease_claim& lease, errc code, const error_info& info);
    void abandon_running_in(const lease_claim& lease, errc code);

    /// Abandons every running call.
    void abort_running(errc code, const error_info& info = {});

    /// Ends every open call with `code`. Returns the number of calls.
    std::size_t abort_all(errc code);

    /// The pool has failed: completes and forgets every open claim. Allocates nothing. Returns the number of
    /// calls.
    std::size_t break_down(const error& cause) noexcept;

    /// Destroys the callers' continuations. Called when no coroutine will ever run again.
    void drop_callers() noexcept;

    /// Waits until no call is open, or until `limit`.
    asio::awaitable<void> drain(time_point limit);

    // Thread safety: may be called from any thread.
    std::size_t queued() const noexcept { return room_.size() + delayed_.size(); }
    std::size_t in_flight() const noexcept { return running_.size(); }

    // Claims that one more worker would help: their number, and the first in the queue, or null.
    std::size_t queued_for_any() const noexcept { return room_.queue().common_size() + delayed_.size(); }
    const claim* next_for_any() noexcept {
        return room_.queue().is_common_empty() ? nullptr : &room_.queue().front();
    }

    /// Returns the total time that workers have spent on calls.
    duration work_done(time_point now) noexcept { return running_.work_done(now); }

    // Counts an event that another part of the pool sees.
    void count_submitted() noexcept { ++counters_.submitted; }
    void count_waiting() noexcept { ++counters_.waited; }
    void count_late_answer() noexcept { ++counters_.late_answers; }
    void record_batch(const call& first, std::size_t calls, time_point now) noexcept;
    void count_denied_retry() noexcept { ++counters_.retries_denied; }
    void count_busy_answer() noexcept { ++counters_.busy_answers; }

    const pool_counters& counters() const noexcept { return counters_; }
    void report(pool_metrics& metrics) const { figures_.report(metrics); }

private:
    void set_overdue(call& abandoned_call);
    void describe_load(error_info& info, time_point now);
    void count_failure(errc code) noexcept;
    void publish_failed(const call& failed_call, errc code) const;
    void record_end(const call& ended_call, time_point now, const std::optional<errc>& code) noexcept;
    void close_out(call& ended_call, time_point now);
    void report_drained();

    const pool_config& config_;
    const pool_context& context_;
    waiting_room& room_;
    session_router& sessions_;
    claim_list<call> delayed_;
    calls_in_flight running_;
    call_recorder figures_;
    latch drained_;
    pool_counters counters_;
};

} // namespace skep

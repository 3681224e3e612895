// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "pool/demand/calls_in_flight.hpp"
#include "pool/demand/lost_call_policy.hpp"
#include "pool/demand/session_router.hpp"
#include "pool/demand/waiting_room.hpp"
#include "telemetry/call_recorder.hpp"
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// A call that was given up because it took too long, for the pool to act upon.
struct timed_out_call {
    std::shared_ptr<worker> at;
    call_ptr given_up;
};

/// Brings calls to workers: late binding, from one waiting room. Every call that is submitted is completed exactly once
/// here, by an answer, an error, its deadline or its caller. On the pool's strand.
class dispatcher final : private claim_holder {
public:
    /// Throws error(invalid_config) if there is to be a custom scheduler and none is made.
    explicit dispatcher(const worker_surroundings& surroundings);

    /// The call is the pool's from now on, and its time runs. To be called first.
    void receive(call& fresh) noexcept;

    /// Takes a call on, unless something is wrong with the call. `may_grow`: there may be more workers for it.
    void submit(call& fresh, bool may_grow);

    /// Fails a call that the pool is in no state for.
    void refuse(call& fresh, errc code, error_info cause);

    /// The caller no longer waits.
    void cancel(call& given_up, asio::cancellation_type type);

    waiting_room& room() noexcept { return room_; }
    session_router& sessions() noexcept { return sessions_; }

    /// The worker takes no calls any more: calls that have waited for it alone go elsewhere, or fail.
    void remove(worker& gone);

    void on_result(worker& sender, call& answered, result_message& answer, time_point now);
    void on_remote_error(worker& sender, call& answered, error_message& answer);
    void on_chunk(call& receiver, chunk_message& piece);

    /// The consumer of a stream has taken so much: its worker may send more.
    void take_chunks(call& from, stream_credit taken);
    void on_call_lost(worker& gone, const lost_call_notice& notice);
    void on_begun_in_vain(call& begun) { grant_grace(begun); }

    /// Refuses every call that waits, for a worker, a place, or to be sent again; returns how many there were. No checkout
    /// waits.
    std::size_t fail_queue(errc code, const error_info& info);

    // For leases: a call of theirs begins, or the one that resets a worker, which nobody has submitted; those that wait
    // fail, and those that a worker has are given up.
    void begin(call& next, const lease_claim& with, time_point now);
    void begin_reset(call& fresh, const lease_claim& with);
    void fail_waiting_in(lease_claim& lease, errc code, const error_info& info);
    void abandon_running_in(const lease_claim& lease, errc code);

    /// Ends every call that a worker has.
    void abort_running(errc code, const error_info& info = {});

    /// Ends every open call with `code`; returns how many there were.
    std::size_t abort_all(errc code);

    /// The pool has failed: completes whatever is open, wherever it is, and forgets it. Allocates nothing; returns how many
    /// calls there were.
    std::size_t break_down(const error& why) noexcept;

    /// Destroys what would resume the callers. For when no coroutine will ever run again.
    void drop_callers() noexcept;

    /// Fails the calls of tools that wait for each other alone, now that no workers are to come.
    void refuse_cycles();

    /// Those that were given up since it was last asked.
    std::vector<timed_out_call> take_timed_out() noexcept { return std::exchange(timed_out_, {}); }

    /// Returns when no call is open, or at `limit`.
    asio::awaitable<void> drain(time_point limit);

    std::size_t queued() const noexcept { return room_.size() + delayed_.size(); }

    /// Whom one more worker would help: those that any would do for, and who is next of them, or null.
    std::size_t queued_for_any() const noexcept { return room_.queue().common_size() + delayed_.size(); }
    const claim* next_for_any() noexcept {
        return room_.queue().is_common_empty() ? nullptr : &room_.queue().front();
    }
    double retry_tokens() const noexcept { return losses_.tokens(); }

    /// Time that workers have spent at calls, in total.
    duration work_done(time_point now) noexcept { return running_.work_done(now); }
    std::size_t in_flight() const noexcept { return running_.size(); }

    // A session is forgotten, perhaps only if it was not used since, or bound to a worker: what waits goes with it. False if
    // no worker is known to serve it, or there is no room for it.
    bool forget_session(const std::string& session, std::optional<time_point> unused_since = {});
    bool bind_session(const std::string& session, worker& to, affinity_mode mode);

    /// Whether a tool has made it for a call that a worker of this pool is at, directly or by way of others.
    bool is_part_of_running_call(const call& fresh) const noexcept;
    const pool_counters& counters() const noexcept { return counters_; }
    void report(pool_metrics& metrics) const { figures_.report(metrics); }

private:
    void on_granted(claim& granted, worker* place, time_point now) override;
    void on_due(claim& due, const supply_outlook& supply) override;
    void on_breakdown(claim& broken, const error& why) noexcept override;

    void accept(call& fresh);
    void refuse_unsendable(call& unsendable);
    void apply_command_options(call& fresh) const noexcept;
    void fail_unsent(call& unsent, const char* problem);
    void place(call& fresh);
    void place_anywhere(call& fresh);
    void place_in_lease(call& fresh, lease_claim& with);
    void queue_up(call& fresh);
    void place_in_session(call& next, worker* place);
    bool may_use_lease(call& next, const lease_claim& with, bool has_place);
    void go_anywhere(call& next);
    void wait_for(call& next, worker& home);
    void refuse_in_session(call& refused, const route& taken);
    void refuse_in_lease(call& refused, const lease_claim& with, errc code, std::string why);
    void enqueue(call& waiting, bool at_front, time_point now);
    bool is_refused_as_cycle(call& made_by_tool);
    void refuse_if_cycle(call& waiting, bool may_grow);
    call* newest_made_by_tool();
    void dispatch(call& next, worker& to, time_point now);
    static bool is_sent(call& next, worker& to, time_point now);
    void retry_or_fail(worker& gone, const lost_call_notice& notice);
    void delay(call& lost, duration wait);
    void resume_delayed(call& delayed, bool may_grow);
    void finish_abandoned(worker& sender, call& answered);
    static time_point next_check(const call& running);
    void time_out(call& running, error_info info = {});
    void check_quiet(call& stream);
    void check_overdue(call& abandoned);
    void fail_waiting(call& waiting, const supply_outlook& supply);
    void leave_queue(call& waiting, errc code, error_info info = {});
    void abandon(call& running, errc code, error_info info = {});
    void grant_grace(call& abandoned);
    void fail(call& failed, errc code, error_info info = {});
    void describe_load(error_info& info, time_point now);
    void count_failure(errc code) noexcept;
    void publish_failed(const call& failed, errc code) const;
    void record_end(const call& over, time_point now, const std::optional<errc>& code) noexcept;

    void close_out(call& over, time_point now);
    void report_drained();

    const pool_config& config_;
    const pool_context& context_;
    waiting_room room_;
    session_router sessions_;
    claim_list<call> delayed_;
    calls_in_flight running_;
    lost_call_policy losses_;
    call_recorder figures_;
    std::vector<timed_out_call> timed_out_;
    latch drained_;
    pool_counters counters_;
};

} // namespace skep

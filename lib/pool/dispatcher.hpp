// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/gate.hpp"
#include "policy/admission.hpp"
#include "policy/affinity_rule.hpp"
#include "pool/calls_in_flight.hpp"
#include "pool/deadline_watch.hpp"
#include "pool/dispatcher_events.hpp"
#include "pool/lease_desk.hpp"
#include "pool/lost_call_policy.hpp"
#include "pool/placement.hpp"
#include "pool/session_affinity.hpp"
#include "pool/wait_queue.hpp"
#include "telemetry/call_recorder.hpp"
#include <skep/pool_config.hpp>
#include <skep/pool_status.hpp>

#include <memory>
#include <optional>
#include <string>

namespace skep {

/// Brings calls to workers: late binding, from one wait queue. Every call that is submitted is completed exactly once
/// here, by an answer, an error, its deadline or its caller. On the pool's strand.
class dispatcher final : private claim_holder, private lease_user {
public:
    /// Throws error(invalid_config) if there is to be a custom scheduler and none is made.
    dispatcher(const pool_context& context, const pool_config& config, dispatcher_events& events,
               const pool_log& log);

    /// Takes a call on, unless the pool is in no state for that, or something is wrong with the call. The
    /// facts by reference: what is written byte by byte and passed as words stalls.
    void submit(call& fresh, admission_facts&& pool);

    /// The caller no longer waits.
    void cancel(call& given_up, asio::cancellation_type type);

    lease_desk& leases() noexcept { return leases_; }

    /// The worker takes calls from now on, or none any more: calls that have waited for it alone go elsewhere, or fail.
    void enlist(worker& fresh);
    void remove(worker& gone);

    /// Calls that wait are given to the worker, as far as it has room, or to any worker.
    void serve(worker& place) override;
    void serve_slot(std::uint32_t slot) override;
    void serve_all() override;

    void on_result(worker& sender, call& answered, result_message& answer, time_point now);
    void on_remote_error(worker& sender, call& answered, error_message& answer);
    void on_chunk(call& receiver, chunk_message& piece);

    /// The consumer of a stream has taken so much: its worker may send more.
    void take_chunks(call& from, stream_credit taken);
    void on_call_lost(worker& gone, const lost_call_notice& notice);
    void on_begun_in_vain(call& begun) { grant_grace(begun); }

    /// Refuses every checkout, and every call that waits, for a worker, a place, or to be sent again; returns how many calls
    /// there were.
    std::size_t fail_queue(errc code, const error_info& info);

    /// Ends the wait of every checkout; calls go on.
    void refuse_checkouts(errc code);

    /// Ends every call that a worker has.
    void abort_running(errc code, const error_info& info = {});

    /// Ends every open call with `code`; returns how many there were.
    std::size_t abort_all(errc code);

    /// Destroys what would resume the callers. For when no coroutine will ever run again.
    void forget_callers() noexcept;

    /// Workers that were to come may not: tools' calls that have waited for them may wait for each other alone.
    void refuse_circles();

    /// Acts on deadlines until it is cancelled.
    asio::awaitable<void> watch_deadlines() { return deadlines_.run(); }

    /// Returns when no call is open, or at `limit`.
    asio::awaitable<void> drain(time_point limit);

    std::size_t queued() const noexcept { return queue_.size() + delayed_.size() + leases_.waiting_calls(); }
    bool is_queue_empty() const noexcept { return queue_.empty(); }

    /// Whom one more worker would help: those that any would do for, and who is next of them, or null.
    std::size_t queued_for_any() const noexcept { return queue_.common_size() + delayed_.size(); }
    const claim* next_for_any() noexcept { return queue_.is_common_empty() ? nullptr : &queue_.front(); }

    /// When the oldest call of the queue was submitted.
    time_point oldest() noexcept { return queue_.oldest().submitted; }
    double retry_tokens() const noexcept { return losses_.tokens(); }

    /// Time that workers have spent at calls, in total.
    duration work_done(time_point now) noexcept { return running_.work_done(now); }
    std::size_t in_flight() const noexcept { return running_.size(); }

    /// False if no worker is known to serve the session. The next call of it may go to any.
    bool forget_session(const std::string& session);

    /// What is known of the session, but for its worker's pool and state.
    std::optional<session_binding> session_worker(const std::string& session) {
        return sessions_.binding_of(session, context_.now());
    }

    /// The worker, which is up, serves the session from now on. False if there is no room for the session.
    bool bind_session(const std::string& session, worker& to, affinity_mode mode);
    std::string why_too_many() const override;

    /// The same, unless it was used then, or later, or a call of it waits.
    void forget_unused_session(const std::string& session, time_point since);

    /// Those that a worker is known to serve, or to have served.
    std::size_t session_count() const noexcept { return sessions_.bound(); }

    /// Forgets sessions that have not been used for their time, until it is cancelled.
    asio::awaitable<void> expire_sessions();

    /// Whether a tool has made it for a call that a worker of this pool is at, directly or by way of others.
    bool is_part_of_running_call(const call& fresh) const noexcept;
    const pool_counters& counters() const noexcept { return counters_; }
    void report(pool_metrics& metrics) const { figures_.report(metrics); }

private:
    void on_granted(claim& granted, worker& place, time_point now) override;
    void on_due(claim& due) override;

    // For leases.
    void begin(call& next, worker& at, time_point now) override;
    bool may_wait(call& fresh, const worker& at) override { return may_use_lease(fresh, at, false); }
    void begin_reset(call& fresh, worker& at) override;
    affinity_step step_of(lease_claim& wanting, worker*& home) override;
    void bind_session(lease_claim& granted, worker& to) override;
    void end_session_use(lease_claim& over) noexcept override;
    void fail_call(call& waiting, errc code, error_info info) override {
        fail(waiting, code, std::move(info));
    }
    void abandon_call(call& running, errc code) override { abandon(running, code); }
    call* running_call_of(const lease_claim& lease) override;
    void on_queue_shrunk() override { show_drained(); }

    void take_on(call& fresh, admission_facts& pool);
    void refuse(call& unsendable);
    void receive(call& fresh) noexcept;
    void apply_command_options(call& fresh) const noexcept;
    void fail_unsent(call& unsent, const char* problem);
    void place(call& fresh);
    void place_anywhere(call& fresh);
    void queue_up(call& fresh);
    void settle_bound_to(std::uint32_t slot);
    void settle_in_session(call& next, worker* place);
    affinity_step step_of_session(const call& wanting, worker*& home);
    session_home state_of(const session_affinity::home& known, const claim& wanting) noexcept;
    bool is_next_at(const worker& home, const claim& wanting) noexcept;
    bool is_strict(const call& of) const noexcept { return sessions_.mode_of(of.req) != affinity_mode::hint; }
    bool may_use_lease(call& next, const worker& at, bool has_place);
    void bind_session(call& assigned, worker& to, time_point now);
    void note_session(const std::string& session, const worker& to, bool is_hit);
    bool begin_session_use(call& by, time_point now);
    void end_session_use(call& over, time_point now) noexcept;
    void end_use(const std::string& session, time_point now) noexcept;
    void go_anywhere(call& next);
    void wait_for(call& next, worker& home);
    void refuse_in_session(call& refused, affinity_step why, const worker* home);
    bool is_lost_to_session(const call& lost);
    void enqueue(call& waiting, bool at_front, time_point now);
    bool is_refused_as_circle(call& made_by_tool);
    call* newest_made_by_tool();
    void dispatch(call& next, worker& to, time_point now);
    void give_back(worker& gone, const lost_call_notice& notice);
    void delay(call& lost, duration wait);
    void resume_delayed(call& delayed);
    void settle_late(worker& sender, call& answered);
    static time_point next_look(const call& running);
    void time_out(call& running, error_info info = {});
    void look_after_quiet(call& stream);
    void look_after_overdue(call& abandoned);
    void fail_waiting(call& waiting);
    void leave_queue(call& waiting, errc code, error_info info = {});
    void abandon(call& running, errc code, error_info info = {});
    void grant_grace(call& abandoned);
    void fail(call& failed, errc code, error_info info = {});
    void describe_load(error_info& info, time_point now);
    void count_failure(errc code) noexcept;
    void tell_failed(const call& failed, errc code) const;
    void note_end(const call& over, time_point now, const std::optional<errc>& code) noexcept;

    /// How many wait in the list in which it waits, or would.
    std::size_t waiting_with(const call& of) const noexcept;
    void take_out(call& over, time_point now);
    void show_drained();

    const pool_config& config_;
    const pool_context& context_;
    dispatcher_events& events_;
    wait_queue queue_;
    placement placement_;
    session_affinity sessions_;
    claim_list<call> delayed_;
    calls_in_flight running_;
    deadline_watch deadlines_;
    lease_desk leases_;
    lost_call_policy losses_;
    call_recorder figures_;
    gate drained_;
    gate has_sessions_;
    pool_counters counters_;
};

} // namespace skep

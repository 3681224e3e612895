// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/admission.hpp"
#include "policy/affinity_rule.hpp"
#include "pool/deadline_watch.hpp"
#include "pool/dispatcher_events.hpp"
#include "pool/lease_claim.hpp"
#include "pool/placement.hpp"
#include "pool/wait_queue.hpp"
#include "telemetry/log.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <string>

namespace skep {

/// What a lease_desk asks of whoever sends calls to workers.
class lease_user {
public:
    /// Sends a call that is in no list.
    virtual void begin(call& next, worker& at, time_point now) = 0;

    /// False if the call has failed, as its session is another worker's, or may not wait for a place at this one.
    virtual bool may_wait(call& fresh, const worker& at) = 0;

    /// Where a checkout goes, and the worker that it wishes for, if that serves. A step that is no refusal of a strict
    /// session begins a use of it.
    virtual affinity_step step_of(lease_claim& wanting, worker*& home) = 0;

    /// The worker serves the checkout's session, if it has one, and is about to be the lease's.
    virtual void bind_session(lease_claim& granted, worker& to) = 0;
    virtual void end_session_use(lease_claim& over) noexcept = 0;
    virtual std::string why_too_many() const = 0;

    /// begin() for a call that nobody has submitted.
    virtual void begin_reset(call& fresh, worker& at) = 0;

    virtual void fail_call(call& waiting, errc code, error_info info) = 0;
    virtual void abandon_call(call& running, errc code) = 0;

    /// One that a worker has, and somebody waits for; null if there is none.
    virtual call* running_call_of(const lease_claim& lease) = 0;

    /// A worker has room for those who wait, or the one who was next waits no more.
    virtual void serve(worker& place) = 0;
    virtual void serve_slot(std::uint32_t slot) = 0;
    virtual void serve_all() = 0;

    /// A caller waits no more.
    virtual void on_queue_shrunk() = 0;

protected:
    ~lease_user() = default;
};

/// The leases of a pool, from checkout to return, and the calls that wait for a place of theirs. A lease waits in the
/// queue like a call; a worker that it is granted takes no calls of others, and is handed over once it is done with those
/// it has. On the pool's strand.
class lease_desk final : private claim_holder {
public:
    lease_desk(const pool_config& config, const pool_context& context, placement& places, wait_queue& queue,
               deadline_watch& deadlines, dispatcher_events& events, lease_user& user, const pool_log& log);

    /// Takes a checkout on, unless the pool is in no state for that.
    void check_out(lease_claim& fresh, const admission_facts& pool);

    /// Places a checkout that is fresh, or has just been taken out of the queue: because `place` has room for it, unless
    /// that is null.
    void settle(lease_claim& wanting, worker* place);

    /// Whoever was to have it waits no more.
    void cancel(lease_claim& given_up);

    /// Its holder does not want it any more: its calls are cancelled, and its worker is reset.
    void give_back(lease_claim& lease);
    void cancel_close(lease_claim& lease);

    /// Sends a fresh call of the lease, or lets it wait for the others.
    void place(call& fresh, lease_claim& with);

    /// Takes out a call that waits.
    void remove(call& waiting, lease_claim& with) noexcept;

    /// Something about the worker has changed: leases of it may go on.
    void serve(worker& place) {
        if (place.is_leased()) {
            look_at_those_of(place);
        }
    }

    /// It takes no calls any more.
    void on_left(const worker& gone);

    /// The reset command of the lease has failed.
    void on_reset_failed(lease_claim& lease, const std::string& why);

    /// Ends the wait of every checkout. Those that have waited behind them go on by serve_all() and serve_slot().
    void refuse_checkouts(errc code, const error_info& info = {});

    /// Ends the wait of every call for a place.
    void refuse_calls(errc code, const error_info& info);
    void forget_callers() noexcept;

    std::size_t size() const noexcept { return leases_.size(); }
    std::size_t waiting_calls() const noexcept { return waiting_calls_; }

private:
    void on_granted(claim& granted, worker& place, time_point now) override;
    void on_due(claim& due) override;

    template <class Act>
    void for_each_of(const worker& place, Act act);

    void look_at_those_of(worker& place);
    void find_place(lease_claim& fresh);
    void go_anywhere(lease_claim& wanting, worker* place);
    void wait_for(lease_claim& wanting, const worker& home);
    void refuse(lease_claim& refused, affinity_step why, const worker* home);
    void queue_up(lease_claim& fresh);
    void queue_up(call& fresh, lease_claim& with);
    void refuse_call(call& fresh, const lease_claim& with, errc code, std::string why);
    void reserve(lease_claim& granted, worker& place);
    void look(lease_claim& lease);
    void hand_over(lease_claim& granted);
    void begin_calls(lease_claim& lease);
    void end_calls(lease_claim& lease);
    void end_return(lease_claim& lease);
    void release(lease_claim& lease);
    void lose(lease_claim& lease);
    void end_wait(lease_claim& waiting, errc code, error_info info);
    void leave(lease_claim& waiting, errc code, error_info info);
    void fail_waiting(lease_claim& late);
    void warn_of_leak(const lease_claim& held) const;
    void end(lease_claim& over);
    static std::size_t calls_at_worker(const lease_claim& lease) noexcept;
    static bool can_begin(const lease_claim& lease) noexcept;
    static bool waits_for_itself(const call& fresh, const lease_claim& with) noexcept;

    const pool_config& config_;
    const pool_context& context_;
    placement& placement_;
    wait_queue& queue_;
    deadline_watch& deadlines_;
    dispatcher_events& events_;
    lease_user& user_;
    const pool_log& log_;
    claim_list<lease_claim> leases_; ///< all that have a worker, or had one, and have not been given back
    std::size_t waiting_calls_ = 0;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/pipelining.hpp"
#include "pool/demand/call_answers.hpp"
#include "pool/demand/call_timeouts.hpp"
#include "pool/demand/home_search.hpp"
#include "pool/demand/lost_call_policy.hpp"
#include "pool/demand/open_calls.hpp"
#include "pool/demand/recall_watch.hpp"
#include "pool/demand/session_router.hpp"
#include "pool/demand/waiting_room.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// Brings calls to workers by late binding, from one waiting room. On the pool's strand.
class dispatcher final : private claim_holder {
public:
    /// Throws error(invalid_config) if a custom scheduler is configured and cannot be made.
    explicit dispatcher(const worker_surroundings& surroundings);

    /// The pool takes over the call, and its time begins to run. To be called first.
    void receive(call& new_call) noexcept;

    /// Admits or fails the call. `may_grow`: more workers may come for the call.
    void submit(call& new_call, bool may_grow);

    /// Fails a call that the pool's state forbids.
    void refuse(call& new_call, errc code, error_info cause);

    /// The caller no longer waits.
    void cancel(call& cancelled_call, asio::cancellation_type type);

    waiting_room& room() noexcept { return room_; }
    session_router& sessions() noexcept { return sessions_; }
    skep::open_calls& open_calls() noexcept { return open_; }
    const skep::open_calls& open_calls() const noexcept { return open_; }
    call_answers& answers() noexcept { return answers_; }
    call_timeouts& timeouts() noexcept { return timeouts_; }
    recall_watch& recalls() noexcept { return recalls_; }
    home_search& homes() noexcept { return homes_; }

    /// The worker takes calls from now on.
    void enlist(worker& new_worker) {
        room_.enlist(new_worker);
        homes_.on_worker();
    }

    /// The worker takes no more calls. Calls that waited for this worker alone are routed again, or fail.
    void remove(worker& leaver);

    // For leases: begins a call of a lease, or the command that resets a worker.
    void begin(call& next, const lease_claim& lease, time_point now);
    void begin_reset(call& new_call, const lease_claim& lease);

    /// The pool has failed: completes and forgets every open claim. Allocates nothing. Returns the number of
    /// calls.
    std::size_t break_down(const error& cause) noexcept;

    /// Fails the calls of tools that wait only for each other, once no more workers are coming.
    void refuse_cycles();

    double retry_tokens() const noexcept { return losses_.tokens(); }

    // Forgets a session, with `unused_since` only if it was not used since, or binds a session to a worker.
    // Waiting claims follow. Return false if no worker is known to serve the session, or if there is no room
    // for it.
    bool forget_session(const std::string& session, std::optional<time_point> unused_since = {});
    bool bind_session(const std::string& session, worker& target, affinity_mode mode);

    /// Returns true if a tool made the call for a call that a worker of this pool has, directly or through
    /// other tools.
    bool is_part_of_running_call(const call& new_call) const noexcept;

private:
    void on_granted(claim& granted_claim, worker* place, time_point now) override;
    void on_due(claim& due_claim, const supply_outlook& supply) override;
    void on_breakdown(claim& broken_claim, const error& cause) noexcept override;

    bool is_automatic() const noexcept { return !config_.pipeline_depth; }
    void accept(call& new_call);
    void refuse_unsendable(call& unsendable_call);
    void apply_command_options(call& new_call) const noexcept;
    void place(call& new_call);
    void place_anywhere(call& new_call);
    bool is_to_wait(call& new_call, const worker& free);
    bool would_overtake_its_session(const call& new_call);
    void place_in_lease(call& new_call, lease_claim& lease);
    void queue_up(call& new_call);
    void place_in_session(call& next, worker* place);
    bool may_use_lease(call& next, const lease_claim& lease, bool has_place);
    void look_for_home(call& next);
    void wait_for_search(call& next);
    void go_anywhere(call& next);
    void wait_for(call& next, worker& home);
    void refuse_in_session(call& refused_call, const route& chosen_route);
    void refuse_in_lease(call& refused_call, const lease_claim& lease, errc code, std::string reason);
    bool is_refused_as_cycle(call& made_by_tool);
    void refuse_if_cycle(call& waiting_call, bool may_grow);
    call* newest_made_by_tool();
    void dispatch(call& next, worker& target, time_point now);
    void dispatch_batch(call& first, worker& target, time_point now);
    void begin(call& next, worker& target, time_point now);
    pace expected_pace_of(const call& next, const worker& target);
    void follow(call& sent_call, time_point now);
    static bool are_sent(const std::vector<call*>& batch, worker& target, time_point now);
    static bool is_sent(call& next, worker& target, time_point now);
    void resume_delayed(call& delayed_call, bool may_grow);

    const pool_config& config_;
    const pool_context& context_;
    waiting_room room_;
    session_router sessions_;
    home_search homes_;
    skep::open_calls open_;
    lost_call_policy losses_;
    pipelining pace_; ///< with the setting `automatic`
    call_answers answers_;
    call_timeouts timeouts_;
    recall_watch recalls_;
};

} // namespace skep

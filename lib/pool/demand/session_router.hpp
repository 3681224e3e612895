// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "policy/affinity_rule.hpp"
#include "pool/demand/lease_claim.hpp"
#include "pool/demand/placement.hpp"
#include "pool/demand/session_affinity.hpp"
#include "pool/demand/session_touches.hpp"
#include "pool/demand/wait_queue.hpp"

#include <optional>
#include <string>

namespace skep {

/// Where a claim goes for the sake of its session, or of the worker that it asks for.
struct route {
    affinity_step step;
    worker* home; ///< the worker that serves the session, or is asked for; null if there is none
};

/// Why a claim is refused.
struct route_refusal {
    errc code;
    error_info info;
};

/// Knows the worker of each session, and where the claims of sessions go. Moves no claim. On the pool's strand.
class session_router {
public:
    session_router(const worker_surroundings& surroundings, const wait_queue& queue, const placement& places);

    // Each begins a use of a session that is strict, unless the claim is refused.
    route route_of(call& claimant);
    route route_of(lease_claim& claimant);
    /// Of a call of a lease, which does not take a strict session to its worker from another one.
    route route_in_lease(call& claimant, const lease_claim& lease, bool has_place);

    route_refusal why_refused(const route& chosen_route, bool is_foreign_lease) const;
    std::string why_too_many() const;

    /// Whether no other worker may do it.
    bool is_lost(const call& lost_call);

    // The worker serves the claim's session, if that has one, from now on. A session with a hint is not remembered where
    // there is no room for it.
    void bind(call& assigned_call, worker& target);
    void bind(lease_claim& granted_lease, worker& target);

    // Neither the pool nor a worker has to do with the claim any more.
    void end_use(call& ended_call) noexcept { end_use(ended_call, ended_call.req.session()); }
    void end_use(lease_claim& ended_lease) noexcept { end_use(ended_lease, ended_lease.options.session()); }

    /// The worker, which is up, serves the session from now on. False if there is no room for the session.
    bool bind(const std::string& session, worker& target, affinity_mode mode);

    /// What is known of sessions.
    session_affinity& known() noexcept { return affinity_; }

    /// The worker that serves the session; null if there is none.
    worker* home_of(const std::string& session) { return affinity_.home_of(session, now()).assigned_worker; }

    /// Forgets sessions that have not been used for their time, until it is cancelled.
    asio::awaitable<void> expire();

    /// Ends what is told to the store of sessions.
    void cancel_touches() { touches_.cancel(); }

private:
    time_point now() const { return surroundings_.context.now(); }
    route decide(claim& claimant, const std::string& session, affinity_mode mode, session_home state,
                 worker* home);
    session_home state_of(const session_affinity::home& known_home, const claim& claimant) const noexcept;
    bool begin_use(claim& claimant, const std::string& session);
    void end_use(claim& ended_claim, const std::string& session) noexcept;
    void end_use(const std::string& session) noexcept;
    template <class Wish>
    void bind(claim& claimant, const Wish& wish, const std::string& session, worker& target);
    void record_use(const std::string& session, const worker& target, bool is_hit);

    const worker_surroundings& surroundings_;
    const wait_queue& waiting_;
    const placement& placement_;
    session_affinity affinity_;
    session_touches touches_;
    latch has_sessions_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "policy/affinity_rule.hpp"
#include "pool/demand/lease_claim.hpp"
#include "pool/demand/session_affinity.hpp"
#include "pool/demand/session_touches.hpp"
#include "pool/demand/waiting_room.hpp"

#include <optional>
#include <string>

namespace skep {

/// The destination of a claim, decided by its session or by the requested worker.
struct route {
    affinity_step step;
    worker* home; ///< the worker of the session, or the requested worker; null if there is none
};

/// The error of a refused claim.
struct route_refusal {
    errc code;
    error_info info;
};

/// Knows the worker of each session, and the destination of claims with sessions. Moves no claim. On the
/// pool's strand.
class session_router {
public:
    session_router(const worker_surroundings& surroundings, waiting_room& room);

    // Each begins a use of a strict session, unless the claim is refused.
    route route_of(call& claimant);
    route route_of(lease_claim& claimant);
    /// Routes a call of a lease. Such a call does not move a strict session from another worker.
    route route_in_lease(call& claimant, const lease_claim& lease, bool has_place);

    route_refusal why_refused(const route& chosen_route, bool is_foreign_lease) const;
    std::string why_too_many() const;

    /// Returns true if no other worker may have the call: its strict session has lost its worker.
    bool is_lost(const call& lost_call);

    // The worker serves the claim's session, if there is one, from now on. A session with a hint is not
    // remembered if there is no room for it.
    void bind(call& assigned_call, worker& target);
    void bind(lease_claim& granted_lease, worker& target);

    // The pool and its workers are done with the claim.
    void end_use(call& ended_call) noexcept { end_use(ended_call, ended_call.req.session()); }
    void end_use(lease_claim& ended_lease) noexcept { end_use(ended_lease, ended_lease.options.session()); }

    /// Binds the session to a worker that is up. Returns false if there is no room for the session.
    bool bind(const std::string& session, worker& target, affinity_mode mode);

    /// Binds a session that no worker is known to serve, unless there is no room for the session.
    void adopt(const std::string& session, worker& target, affinity_mode mode);

    bool is_strict(const call& subject) const noexcept {
        return affinity_.mode_of(subject.req) != affinity_mode::hint;
    }

    /// The known sessions.
    session_affinity& known() noexcept { return affinity_; }

    /// Returns the worker of the session, or null.
    worker* home_of(const std::string& session) { return affinity_.home_of(session, now()).assigned_worker; }

    /// Forgets sessions unused for their ttl, until cancelled.
    asio::awaitable<void> expire();

    /// Ends the updates of the session store.
    void cancel_touches() { touches_.cancel(); }

private:
    time_point now() const { return surroundings_.context.now(); }
    route decide(claim& claimant, const std::string& session, affinity_mode mode, session_home state,
                 worker* home);
    session_home state_of(const session_affinity::home& known_home, claim& claimant);
    bool begin_use(claim& claimant, const std::string& session);
    void end_use(claim& ended_claim, const std::string& session) noexcept;
    void end_use(const std::string& session) noexcept;
    template <class Wish>
    void bind(claim& claimant, const Wish& wish, const std::string& session, worker& target);
    void record_use(const std::string& session, const worker& target, bool is_hit);

    const worker_surroundings& surroundings_;
    waiting_room& room_;
    session_affinity affinity_;
    session_touches touches_;
    latch has_sessions_;
};

} // namespace skep

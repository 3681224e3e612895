// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/session_router.hpp"

#include "async/checkpoint.hpp"
#include "core/clock.hpp"

#include <utility>

namespace skep {

namespace {

constexpr auto worker_is_elsewhere =
    "it is another worker than the lease's; make the call without the lease, or in a lease of "
    "checkout_options::session(id)";

} // namespace

session_router::session_router(const worker_surroundings& surroundings, waiting_room& room)
    : surroundings_(surroundings),
      room_(room),
      affinity_(surroundings.config.affinity),
      touches_(surroundings.context.executor, surroundings.config.sessions),
      has_sessions_(surroundings.context.executor) {}

route session_router::route_of(call& claimant) {
    const auto& session = claimant.req.session();
    const auto known = affinity_.home_of(session, now());
    return decide(claimant, session, affinity_.mode_of(claimant.req), state_of(known, claimant),
                  known.assigned_worker);
}

route session_router::route_of(lease_claim& claimant) {
    const auto& options = claimant.options;
    session_affinity::home known;
    if (options.worker()) {
        known.assigned_worker = room_.places().find(*options.worker());
        known.is_lost = known.assigned_worker == nullptr;
    } else if (!options.session().empty()) {
        known = affinity_.home_of(options.session(), now());
    }
    return decide(claimant, options.session(), affinity_.mode_of(options), state_of(known, claimant),
                  known.assigned_worker);
}

route session_router::route_in_lease(call& claimant, const lease_claim& lease, bool has_place) {
    const auto& session = claimant.req.session();
    const auto known = affinity_.home_of(session, now());
    auto state = known.is_lost ? session_home::lost : session_home::none;
    if (known.assigned_worker != nullptr && known.assigned_worker == lease.assigned_worker) {
        state = has_place ? session_home::free : session_home::busy;
    } else if (known.assigned_worker != nullptr) {
        state = session_home::elsewhere;
    }
    return decide(claimant, session, affinity_.mode_of(claimant.req), state, known.assigned_worker);
}

route session_router::decide(claim& claimant, const std::string& session, affinity_mode mode,
                             session_home state, worker* home) {
    const auto step = step_of(mode, state);
    const bool is_strict = !session.empty() && mode != affinity_mode::hint;
    const bool has_room = is_refusal(step) || !is_strict || begin_use(claimant, session);
    if (!has_room) {
        return {affinity_step::refuse_as_too_many, home};
    }
    if (is_strict && step == affinity_step::wait_for_home && home_of(session) == home) {
        affinity_.bind(session, mode, *home); // a call with a hint must not move the session meanwhile
    }
    return {step, home};
}

/// The worker is free for the claim only if no older claim waits there, perhaps for more room than the claim
/// needs.
session_home session_router::state_of(const session_affinity::home& known_home, claim& claimant) {
    if (known_home.assigned_worker == nullptr) {
        return known_home.is_lost ? session_home::lost : session_home::none;
    }
    const bool is_free = room_.is_next_for(*known_home.assigned_worker, claimant) &&
                         placement::has_room(*known_home.assigned_worker, claimant);
    return is_free ? session_home::free : session_home::busy;
}

route_refusal session_router::why_refused(const route& chosen_route, bool is_foreign_lease) const {
    route_refusal result{errc::session_worker_unavailable, {}};
    if (chosen_route.home != nullptr) {
        result.info.worker = chosen_route.home->id();
    }
    switch (chosen_route.step) {
    case affinity_step::refuse_as_busy: result.code = errc::worker_busy; break;
    case affinity_step::refuse_as_too_many:
        result.code = errc::session_quota_exceeded;
        result.info.detail = why_too_many();
        return result;
    default: result.info.detail = worker_is_gone; break;
    }
    if (is_foreign_lease) {
        result.info.detail = worker_is_elsewhere;
    }
    return result;
}

std::string session_router::why_too_many() const {
    return "the pool remembers " + std::to_string(affinity_.size()) +
           " sessions that are strictly bound or in use, and affinity.limit is " +
           std::to_string(surroundings_.config.affinity.limit);
}

bool session_router::is_lost(const call& lost_call) {
    return lost_call.has_session() && is_strict(lost_call) &&
           affinity_.home_of(lost_call.req.session(), now()).is_lost;
}

template <class Wish>
void session_router::bind(claim& claimant, const Wish& wish, const std::string& session, worker& target) {
    if (!session.empty()) {
        record_use(session, target,
                   begin_use(claimant, session) && affinity_.bind(session, affinity_.mode_of(wish), target));
    }
}

void session_router::bind(call& assigned_call, worker& target) {
    bind(assigned_call, assigned_call.req, assigned_call.req.session(), target);
}

void session_router::bind(lease_claim& granted_lease, worker& target) {
    bind(granted_lease, granted_lease.options, granted_lease.options.session(), target);
}

bool session_router::bind(const std::string& session, worker& target, affinity_mode mode) {
    if (home_of(session) != &target) {
        affinity_.forget(session);
    }
    if (!affinity_.begin_use(session, now())) {
        return false;
    }
    const bool is_hit = affinity_.bind(session, mode, target);
    end_use(session);
    record_use(session, target, is_hit);
    return true;
}

void session_router::adopt(const std::string& session, worker& target, affinity_mode mode) {
    if (home_of(session) == nullptr && affinity_.begin_use(session, now())) {
        affinity_.bind(session, mode, target);
        end_use(session);
    }
}

void session_router::record_use(const std::string& session, const worker& target, bool is_hit) {
    surroundings_.context.publish<events::session_affinity>([&] {
        return events::session_affinity{target.id(), session, is_hit ? "hit" : "miss"};
    });
    touches_.add(surroundings_.owner.lock(), session, target.id());
}

/// Returns false if there is no room for the session.
bool session_router::begin_use(claim& claimant, const std::string& session) {
    claimant.uses_session = claimant.uses_session || affinity_.begin_use(session, now());
    return claimant.uses_session;
}

void session_router::end_use(claim& ended_claim, const std::string& session) noexcept {
    if (std::exchange(ended_claim.uses_session, false)) {
        end_use(session);
    }
}

void session_router::end_use(const std::string& session) noexcept {
    const bool was_any_idle = affinity_.next_expiry() != time_point::max();
    affinity_.end_use(session, now());
    if (!was_any_idle) {
        has_sessions_.open();
    }
}

/// Drops sessions some time after their expiry, many at a time. Yields in between.
asio::awaitable<void> session_router::expire() {
    const auto tolerance = surroundings_.config.affinity.ttl / 64;
    for (;;) {
        has_sessions_.close();
        const auto due = after_limit(affinity_.next_expiry(), tolerance);
        co_await has_sessions_.wait_until(due);
        affinity_.drop_expired(now());
        co_await end_turn();
    }
}

} // namespace skep

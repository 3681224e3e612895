// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/session_router.hpp"

#include "core/clock.hpp"

#include <utility>

namespace skep {

namespace {

constexpr auto worker_is_elsewhere =
    "it is another worker than the lease's; make the call without the lease, or in a lease of "
    "checkout_options::session(id)";

} // namespace

session_router::session_router(const worker_surroundings& surroundings, const wait_queue& waiting,
                               const placement& places)
    : surroundings_(surroundings),
      waiting_(waiting),
      placement_(places),
      affinity_(surroundings.config.affinity),
      touches_(surroundings.context.executor, surroundings.config.sessions),
      has_sessions_(surroundings.context.executor) {}

route session_router::route_of(call& wanting) {
    const auto& session = wanting.req.session();
    const auto known = affinity_.home_of(session, now());
    return decide(wanting, session, affinity_.mode_of(wanting.req), state_of(known, wanting), known.at);
}

route session_router::route_of(lease_claim& wanting) {
    const auto& options = wanting.options;
    session_affinity::home known;
    if (options.worker()) {
        known.at = placement_.find(*options.worker());
        known.is_lost = known.at == nullptr;
    } else if (!options.session().empty()) {
        known = affinity_.home_of(options.session(), now());
    }
    return decide(wanting, options.session(), affinity_.mode_of(options), state_of(known, wanting), known.at);
}

route session_router::route_in_lease(call& wanting, const lease_claim& with, bool has_place) {
    const auto& session = wanting.req.session();
    const auto known = affinity_.home_of(session, now());
    auto state = known.is_lost ? session_home::lost : session_home::none;
    if (known.at != nullptr && known.at == with.at) {
        state = has_place ? session_home::free : session_home::busy;
    } else if (known.at != nullptr) {
        state = session_home::elsewhere;
    }
    return decide(wanting, session, affinity_.mode_of(wanting.req), state, known.at);
}

route session_router::decide(claim& wanting, const std::string& session, affinity_mode mode,
                             session_home state, worker* home) {
    const auto step = step_of(mode, state);
    const bool is_strict = !session.empty() && mode != affinity_mode::hint;
    const bool has_room = is_refusal(step) || !is_strict || begin_use(wanting, session);
    if (!has_room) {
        return {affinity_step::refuse_as_too_many, home};
    }
    if (is_strict && step == affinity_step::wait_for_home && home_of(session) == home) {
        affinity_.bind(session, mode, *home); // a call with a hint does not take the session along meanwhile
    }
    return {step, home};
}

/// Room is for the claim only if nobody waits there who came before it, perhaps for room that it could do without.
session_home session_router::state_of(const session_affinity::home& known,
                                      const claim& wanting) const noexcept {
    if (known.at == nullptr) {
        return known.is_lost ? session_home::lost : session_home::none;
    }
    const bool is_free =
        waiting_.is_next_for(known.at->id().slot, wanting) && placement::has_room(*known.at, wanting);
    return is_free ? session_home::free : session_home::busy;
}

route_refusal session_router::why_refused(const route& taken, bool is_foreign_lease) const {
    route_refusal result{errc::session_worker_unavailable, {}};
    if (taken.home != nullptr) {
        result.info.worker = taken.home->id();
    }
    switch (taken.step) {
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

bool session_router::is_lost(const call& lost) {
    const bool is_strict = lost.has_session() && affinity_.mode_of(lost.req) != affinity_mode::hint;
    return is_strict && affinity_.home_of(lost.req.session(), now()).is_lost;
}

template <class Wish>
void session_router::bind(claim& by, const Wish& wish, const std::string& session, worker& to) {
    if (!session.empty()) {
        record_use(session, to,
                   begin_use(by, session) && affinity_.bind(session, affinity_.mode_of(wish), to));
    }
}

void session_router::bind(call& assigned, worker& to) {
    bind(assigned, assigned.req, assigned.req.session(), to);
}

void session_router::bind(lease_claim& granted, worker& to) {
    bind(granted, granted.options, granted.options.session(), to);
}

bool session_router::bind(const std::string& session, worker& to, affinity_mode mode) {
    if (home_of(session) != &to) {
        affinity_.forget(session);
    }
    if (!affinity_.begin_use(session, now())) {
        return false;
    }
    const bool is_hit = affinity_.bind(session, mode, to);
    end_use(session);
    record_use(session, to, is_hit);
    return true;
}

void session_router::record_use(const std::string& session, const worker& to, bool is_hit) {
    surroundings_.context.publish<events::session_affinity>([&] {
        return events::session_affinity{to.id(), session, is_hit ? "hit" : "miss"};
    });
    touches_.add(surroundings_.owner.lock(), session, to.id());
}

/// False if there is no room for the session.
bool session_router::begin_use(claim& by, const std::string& session) {
    by.uses_session = by.uses_session || affinity_.begin_use(session, now());
    return by.uses_session;
}

void session_router::end_use(claim& over, const std::string& session) noexcept {
    if (std::exchange(over.uses_session, false)) {
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

/// Some time after each: many may be dropped at a time.
asio::awaitable<void> session_router::expire() {
    const auto tolerance = surroundings_.config.affinity.ttl / 64;
    for (;;) {
        has_sessions_.close();
        const auto due = after_limit(affinity_.next_expiry(), tolerance);
        co_await has_sessions_.wait_until(due);
        affinity_.drop_expired(now());
    }
}

} // namespace skep

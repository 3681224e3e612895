// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a dispatcher does with the calls of sessions.

#include "core/clock.hpp"
#include "policy/affinity_rule.hpp"
#include "pool/dispatcher.hpp"
#include "pool/tool_cycle.hpp"

#include <utility>

namespace skep {

void dispatcher::remove(worker& gone) {
    placement_.remove(gone);
    sessions_.left(gone);
    leases_.on_left(gone);
    settle_bound_to(gone.id().slot);
}

bool dispatcher::forget_session(const std::string& session) {
    const auto known = sessions_.home_of(session, context_.now());
    const bool was_known = sessions_.forget(session);
    if (known.at != nullptr) {
        settle_bound_to(known.at->id().slot);
    }
    return was_known;
}

void dispatcher::forget_unused_session(const std::string& session, time_point since) {
    if (sessions_.is_unused(session, since)) {
        forget_session(session);
    }
}

/// What has waited for the worker in that slot alone may have to go elsewhere by now.
void dispatcher::settle_bound_to(std::uint32_t slot) {
    claim_list<claim> waiting;
    while (auto* const next = queue_.first_bound_to(slot)) {
        waiting.push_back(queue_.remove(*next));
    }
    const bool have_any = !waiting.empty();
    while (!waiting.empty()) {
        const auto next = waiting.pop_front();
        auto* const waiting_call = next->as_call();
        waiting_call != nullptr ? settle_in_session(*waiting_call, nullptr)
                                : leases_.settle(static_cast<lease_claim&>(*next), nullptr);
    }
    if (have_any) {
        serve_all();
    }
}

/// `next` is fresh, or has just been taken out of the queue: because `place` has room for it, unless that is null.
void dispatcher::settle_in_session(call& next, worker* place) {
    const call_ptr keep(&next);
    worker* home = nullptr;
    auto step = step_of_session(next, home);
    next.slot.reset(); // it waits for that one no more
    try {
        const auto now = context_.now();
        if (!is_refusal(step) && is_strict(next) && !begin_session_use(next, now)) {
            step = affinity_step::refuse_as_too_many;
        }
        switch (step) {
        case affinity_step::anywhere:
            place != nullptr ? dispatch(next, *place, now) : go_anywhere(next);
            break;
        case affinity_step::go_home: dispatch(next, *home, now); break;
        case affinity_step::wait_for_home: wait_for(next, *home); break;
        default: refuse_in_session(next, step, home); break;
        }
    } catch (const std::exception& problem) { // out of memory
        if (next.state == call_state::running || next.state == call_state::done) {
            throw;
        }
        next.state = call_state::fresh;
        fail_unsent(next, problem.what());
    }
}

/// A lease is of one worker: a call of it does not take a strict session to that worker from another one.
bool dispatcher::may_use_lease(call& next, const worker& at, bool has_place) {
    if (!next.has_session() || !is_strict(next)) {
        return true;
    }
    const auto now = context_.now();
    const auto known = sessions_.home_of(next.req.session(), now);
    auto state = known.is_lost ? session_home::lost : session_home::none;
    if (known.at == &at) {
        state = has_place ? session_home::free : session_home::busy;
    } else if (known.at != nullptr) {
        state = session_home::elsewhere;
    }
    auto step = skep::step_of(sessions_.mode_of(next.req), state);
    if (!is_refusal(step) && !begin_session_use(next, now)) {
        step = affinity_step::refuse_as_too_many;
    }
    if (is_refusal(step)) {
        refuse_in_session(next, step, known.at);
    }
    return !is_refusal(step);
}

affinity_step dispatcher::step_of_session(const call& wanting, worker*& home) {
    const auto known = sessions_.home_of(wanting.req.session(), context_.now());
    home = known.at;
    return skep::step_of(sessions_.mode_of(wanting.req), state_of(known, wanting));
}

session_home dispatcher::state_of(const session_affinity::home& known, const claim& wanting) noexcept {
    if (known.at == nullptr) {
        return known.is_lost ? session_home::lost : session_home::none;
    }
    const bool is_free = is_next_at(*known.at, wanting) && placement::has_room(*known.at, wanting);
    return is_free ? session_home::free : session_home::busy;
}

/// The worker that a checkout wishes for: by its id, or as the one of a session.
affinity_step dispatcher::step_of(lease_claim& wanting, worker*& home) {
    const auto& options = wanting.options;
    session_affinity::home known;
    if (options.worker()) {
        known.at = placement_.find(*options.worker());
        known.is_lost = known.at == nullptr;
    } else if (!options.session().empty()) {
        known = sessions_.home_of(options.session(), context_.now());
    }
    home = known.at;
    const auto mode = sessions_.mode_of(options);
    const auto step = skep::step_of(mode, state_of(known, wanting));
    const bool is_strict = !options.session().empty() && mode != affinity_mode::hint;
    if (is_refusal(step) || !is_strict || wanting.uses_session) {
        return step;
    }
    wanting.uses_session = sessions_.begin_use(options.session(), context_.now());
    return wanting.uses_session ? step : affinity_step::refuse_as_too_many;
}

/// The session of a checkout with a hint is not remembered where there is no room for it.
void dispatcher::bind_session(lease_claim& granted, worker& to) {
    const auto& session = granted.options.session();
    if (session.empty()) {
        return;
    }
    granted.uses_session = granted.uses_session || sessions_.begin_use(session, context_.now());
    const auto mode = sessions_.mode_of(granted.options);
    note_session(session, to, granted.uses_session && sessions_.bind(session, mode, to));
}

void dispatcher::end_session_use(lease_claim& over) noexcept {
    if (std::exchange(over.uses_session, false)) {
        end_use(over.options.session(), context_.now());
    }
}

bool dispatcher::bind_session(const std::string& session, worker& to, affinity_mode mode) {
    const auto now = context_.now();
    auto* const former = sessions_.home_of(session, now).at;
    if (former != &to) {
        sessions_.forget(session);
    }
    if (!sessions_.begin_use(session, now)) {
        return false;
    }
    const bool is_hit = sessions_.bind(session, mode, to);
    end_use(session, now);
    note_session(session, to, is_hit);
    if (former != nullptr) {
        settle_bound_to(former->id().slot);
    }
    return true;
}

std::string dispatcher::why_too_many() const {
    return "the pool remembers " + std::to_string(sessions_.size()) +
           " sessions that are strictly bound or in use, and affinity.limit is " +
           std::to_string(config_.affinity.limit);
}

/// Whether nobody waits there who came before it, perhaps for room that it could do without: others can be pipelined.
bool dispatcher::is_next_at(const worker& home, const claim& wanting) noexcept {
    const auto* const next = queue_.next_for(home.id().slot);
    return next == nullptr || wanting.order < next->order;
}

void dispatcher::go_anywhere(call& next) {
    if (next.state == call_state::fresh) {
        place_anywhere(next);
    } else {
        queue_.put_back(&next);
    }
}

void dispatcher::wait_for(call& next, worker& home) {
    next.slot = home.id().slot;
    if (next.state == call_state::fresh) {
        queue_up(next);
        return;
    }
    queue_.put_back(&next);
    if (outer_of(next) != nullptr) {
        is_refused_as_circle(next);
    }
}

void dispatcher::refuse_in_session(call& refused, affinity_step why, const worker* home) {
    refused.state = call_state::fresh; // it is in no list
    error_info info;
    bool is_foreign = false;
    if (home != nullptr) {
        info.worker = home->id();
        const auto* const lease = lease_of(refused);
        is_foreign = lease != nullptr && lease->at != home;
    }
    const bool may_have_begun = refused.attempts > 0; // before it was to be made once more
    auto code = may_have_begun ? errc::worker_lost : errc::session_worker_unavailable;
    switch (why) {
    case affinity_step::refuse_as_busy:
        info.detail = is_foreign ? worker_is_elsewhere : "";
        code = errc::worker_busy;
        break;
    case affinity_step::refuse_as_too_many:
        info.detail = why_too_many();
        code = errc::session_quota_exceeded;
        break;
    default: info.detail = is_foreign ? worker_is_elsewhere : worker_is_gone; break;
    }
    fail(refused, code, std::move(info));
}

/// Whether nobody else may do it.
bool dispatcher::is_lost_to_session(const call& lost) {
    worker* home = nullptr;
    return lost.has_session() && step_of_session(lost, home) == affinity_step::refuse_as_lost;
}

/// A session that is not strict is not remembered where there is no room for it.
void dispatcher::bind_session(call& assigned, worker& to, time_point now) {
    const auto& session = assigned.req.session();
    const bool is_hit =
        begin_session_use(assigned, now) && sessions_.bind(session, sessions_.mode_of(assigned.req), to);
    note_session(session, to, is_hit);
}

void dispatcher::note_session(const std::string& session, const worker& to, bool is_hit) {
    context_.tell<events::session_affinity>([&] {
        return events::session_affinity{to.id(), session, is_hit ? "hit" : "miss"};
    });
    events_.on_session_used(session, to);
}

/// False if there is no room for its session.
bool dispatcher::begin_session_use(call& by, time_point now) {
    by.uses_session = by.uses_session || sessions_.begin_use(by.req.session(), now);
    return by.uses_session;
}

/// Neither the pool nor a worker has to do with it any more.
void dispatcher::end_session_use(call& over, time_point now) noexcept {
    if (std::exchange(over.uses_session, false)) {
        end_use(over.req.session(), now);
    }
}

void dispatcher::end_use(const std::string& session, time_point now) noexcept {
    const bool was_any_idle = sessions_.next_expiry() != time_point::max();
    sessions_.end_use(session, now);
    if (!was_any_idle) {
        has_sessions_.open();
    }
}

/// Some time after each: many may be dropped at a time.
asio::awaitable<void> dispatcher::expire_sessions() {
    const auto tolerance = config_.affinity.ttl / 64;
    for (;;) {
        has_sessions_.close();
        const auto due = after_limit(sessions_.next_expiry(), tolerance);
        co_await has_sessions_.wait_until(due);
        sessions_.drop_expired(context_.now());
    }
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a dispatcher does with the calls of sessions.

#include "core/clock.hpp"
#include "policy/affinity_rule.hpp"
#include "pool/dispatcher.hpp"
#include "pool/tool_cycle.hpp"

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
        settle_in_session(static_cast<call&>(*next), nullptr);
    }
    if (have_any) {
        serve_all();
    }
}

/// `next` is fresh, or has just been taken out of the queue: because `place` has room for it, unless that is null.
void dispatcher::settle_in_session(call& next, worker* place) {
    const call_ptr keep(&next);
    worker* home = nullptr;
    const auto step = step_of_session(next, home); // first: its wait has kept the session in use
    end_wait_for_home(next);
    try {
        const auto now = context_.now();
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

affinity_step dispatcher::step_of_session(const call& wanting, worker*& home) {
    const auto known = sessions_.home_of(wanting.req.session(), context_.now());
    home = known.at;
    auto state = known.is_lost ? session_home::lost : session_home::none;
    if (home != nullptr) {
        const bool is_free = is_next_at(*home, wanting) && placement::has_room(*home, wanting);
        state = is_free ? session_home::free : session_home::busy;
    }
    return step_of(sessions_.mode_of(wanting.req), state);
}

/// Whether nobody waits there who came before it, perhaps for room that it could do without: others can be pipelined.
bool dispatcher::is_next_at(const worker& home, const call& wanting) noexcept {
    const auto* const next = queue_.next_for(home.id().slot);
    const bool has_waited = wanting.state != call_state::fresh;
    return next == nullptr || (has_waited && wanting.order < next->order);
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
    sessions_.begin_wait(next.req.session());
    if (next.state == call_state::fresh) {
        queue_up(next);
        return;
    }
    queue_.put_back(&next);
    if (outer_of(next) != nullptr) {
        is_refused_as_circle(next);
    }
}

void dispatcher::end_wait_for_home(call& waiting) noexcept {
    if (waiting.slot) {
        waiting.slot.reset();
        sessions_.end_wait(waiting.req.session());
    }
}

void dispatcher::refuse_in_session(call& refused, affinity_step why, const worker* home) {
    refused.state = call_state::fresh; // it is in no list
    error_info info;
    if (why == affinity_step::refuse_as_busy) {
        info.worker = home->id();
        fail(refused, errc::worker_busy, std::move(info));
        return;
    }
    const bool may_have_begun = refused.attempts > 0; // before it was to be made once more
    fail(refused, may_have_begun ? errc::worker_lost : errc::session_worker_unavailable, std::move(info));
}

/// Whether nobody else may do it.
bool dispatcher::is_lost_to_session(const call& lost) {
    worker* home = nullptr;
    return lost.has_session() && step_of_session(lost, home) == affinity_step::refuse_as_lost;
}

void dispatcher::bind_session(const call& assigned, worker& to, time_point now) {
    const bool is_first = sessions_.size() == 0;
    const bool is_hit = sessions_.bind(assigned.req, to, now);
    context_.tell<events::session_affinity>([&] {
        return events::session_affinity{to.id(), assigned.req.session(), is_hit ? "hit" : "miss"};
    });
    if (is_first) {
        has_sessions_.open();
    }
    events_.on_session_used(assigned.req.session());
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

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/dispatcher.hpp"

#include "core/clock.hpp"
#include "policy/admission.hpp"
#include "pool/demand/call_events.hpp"
#include "pool/demand/tool_cycle.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace skep {

dispatcher::dispatcher(const worker_surroundings& surroundings)
    : config_(surroundings.config),
      context_(surroundings.context),
      room_(surroundings),
      sessions_(surroundings, room_.queue(), room_.places()),
      open_(surroundings, room_, sessions_),
      losses_(config_, context_),
      answers_(context_, room_, sessions_, open_, losses_),
      timeouts_(context_, room_, open_) {}

void dispatcher::submit(call& fresh, bool may_grow) {
    ++open_.counters().submitted;
    accept(fresh);
    if (fresh.state == call_state::queued) {
        ++open_.counters().waited;
        refuse_if_cycle(fresh, may_grow);
    }
}

void dispatcher::refuse(call& fresh, errc code, error_info cause) {
    ++open_.counters().submitted;
    if (fresh.refusal) {
        refuse_unsendable(fresh);
    } else {
        open_.fail(fresh, code, std::move(cause));
    }
}

void dispatcher::accept(call& fresh) {
    if (fresh.refusal) {
        refuse_unsendable(fresh);
        return;
    }
    admission_facts facts;
    facts.is_expired = fresh.deadline <= fresh.submitted;
    facts.is_poisonous = losses_.is_poison(fresh, fresh.submitted);
    if (const auto refusal = refusal_of(facts)) {
        open_.fail(fresh, *refusal);
        return;
    }
    place(fresh);
}

void dispatcher::refuse_unsendable(call& unsendable) {
    try {
        std::rethrow_exception(std::exchange(unsendable.refusal, nullptr));
    } catch (const error& refusal) {
        open_.fail(unsendable, refusal.errc(), refusal.info());
    } catch (const std::bad_alloc&) {
        open_.fail(unsendable, errc::out_of_memory);
    } catch (const std::exception& problem) {
        fail_unsent(unsendable, problem.what());
    } catch (...) {
        fail_unsent(unsendable, "a handler of it could not be copied");
    }
}

void dispatcher::fail_unsent(call& unsent, const char* problem) {
    error_info info;
    info.detail = problem;
    open_.fail(unsent, errc::invalid_request, std::move(info));
}

/// Gives the request the options of its command in the configuration, as far as the request has none.
void dispatcher::apply_command_options(call& fresh) const noexcept {
    const auto found = config_.commands.find(fresh.req.command());
    if (found == config_.commands.end()) {
        return;
    }
    const auto& options = found->second;
    if (options.timeout && !fresh.req.timeout()) {
        fresh.req.timeout(*options.timeout);
    }
    if (options.queue_timeout && !fresh.req.queue_timeout()) {
        fresh.req.queue_timeout(*options.queue_timeout);
    }
    if (options.idempotent && !fresh.req.has_idempotent()) {
        fresh.req.idempotent(*options.idempotent);
    }
    if (options.idle_timeout && fresh.stream != nullptr && !fresh.req.idle_timeout()) {
        fresh.stream->idle_timeout = *options.idle_timeout;
    }
}

void dispatcher::receive(call& fresh) noexcept {
    room_.open(fresh);
    fresh.holder = this;
    fresh.submitted = context_.now();
    if (!config_.commands.empty()) {
        apply_command_options(fresh);
    }
    const auto default_timeout = fresh.stream == nullptr ? config_.request_timeout : config_.stream.timeout;
    fresh.deadline = std::min(fresh.req.deadline().value_or(time_point::max()),
                              after_limit(fresh.submitted, fresh.req.timeout().value_or(default_timeout)));
}

void dispatcher::place(call& fresh) {
    if (auto* const lease = lease_of(fresh)) {
        place_in_lease(fresh, *lease);
        return;
    }
    if (fresh.has_session()) {
        place_in_session(fresh, nullptr);
    } else {
        place_anywhere(fresh);
    }
}

void dispatcher::place_anywhere(call& fresh) {
    auto* const free = room_.place_for(fresh);
    if (free != nullptr) {
        dispatch(fresh, *free, fresh.submitted);
    } else {
        queue_up(fresh);
    }
}

void dispatcher::place_in_lease(call& fresh, lease_claim& with) {
    if (with.state == lease_state::lost) {
        refuse_in_lease(fresh, with, errc::worker_lost, "the leased worker had ended before the call");
    } else if (with.state != lease_state::held) {
        refuse_in_lease(fresh, with, errc::invalid_request, "the lease was given back before the call");
    } else if (with.waiting.empty() && with.can_begin_call()) {
        begin(fresh, with, fresh.submitted);
    } else if (with.is_full_until(fresh)) {
        refuse_in_lease(fresh, with, errc::tool_cycle,
                        "it would wait for ever, for a place of its own lease: " + trail_of(fresh));
    } else if (may_use_lease(fresh, with, false)) {
        queue_up(fresh);
    }
}

void dispatcher::refuse_in_lease(call& refused, const lease_claim& with, errc code, std::string why) {
    error_info info;
    info.worker = with.of;
    info.detail = std::move(why);
    open_.fail(refused, code, std::move(info));
}

void dispatcher::queue_up(call& fresh) {
    const auto* const lease = lease_of(fresh);
    const bool has_place = false;
    if (admit(has_place, room_.waiting_with(fresh), config_.queue.limit) == admission::queue) {
        open_.enqueue(fresh, false, fresh.submitted);
    } else if (lease != nullptr) {
        refuse_in_lease(fresh, *lease, errc::pool_saturated, {});
    } else {
        open_.fail(fresh, errc::pool_saturated);
    }
}

bool dispatcher::is_part_of_running_call(const call& fresh) const noexcept {
    for (const auto* outer = outer_of(fresh); outer != nullptr; outer = outer_of(*outer)) {
        if (outer->holder == this &&
            outer->state == call_state::running) { // only of its own it knows the state
            return true;
        }
    }
    return false;
}

void dispatcher::refuse_cycles() {
    bool may_be_more = true;
    while (may_be_more) {
        auto* const newest = newest_made_by_tool();
        may_be_more = newest != nullptr && is_refused_as_cycle(*newest);
    }
}

/// What waits for one worker is not helped by others.
void dispatcher::refuse_if_cycle(call& waiting, bool may_grow) {
    const bool may_be_helped = waiting.is_leased() || (may_grow && !waiting.slot);
    if (outer_of(waiting) != nullptr && !may_be_helped) {
        is_refused_as_cycle(waiting);
    }
}

call* dispatcher::newest_made_by_tool() {
    call* newest = nullptr;
    room_.queue().for_each([&](claim& each) {
        auto* const waiting = each.as_call();
        newest = waiting != nullptr && outer_of(*waiting) != nullptr ? waiting : newest;
    });
    return newest;
}

bool dispatcher::is_refused_as_cycle(call& made_by_tool) {
    if (!waits_for_itself(made_by_tool, room_.queue(), room_.places())) {
        return false;
    }
    error_info info;
    info.detail = "it would wait for ever: " + trail_of(made_by_tool);
    open_.leave_queue(made_by_tool, errc::tool_cycle, std::move(info));
    return true;
}

void dispatcher::dispatch(call& next, worker& to, time_point now) {
    open_.begin(next, to, now);
    if (next.has_session()) {
        sessions_.bind(next, to);
    }
    if (!is_sent(next, to, now)) {
        open_.fail(next, errc::out_of_memory);
        room_.refresh(to);
        return;
    }
    if (next.stream != nullptr) {
        next.stream->heard = now;
    }
    room_.deadlines().set(next, next_check(next));
    publish_started(context_, next);
    room_.refresh(to);
    next.sink->on_sent();
}

/// False if there is no memory for its frame, which is as large as its caller has made it.
bool dispatcher::is_sent(call& next, worker& to, time_point now) {
    try {
        to.calls().assign(next, now);
    } catch (const std::bad_alloc&) {
        if (next.id != 0) { // it was for something else
            throw;
        }
    }
    return next.id != 0;
}

/// It has just been taken out of the queue.
void dispatcher::on_granted(claim& granted, worker* place, time_point now) {
    auto& next = static_cast<call&>(granted);
    if (next.has_session() || place == nullptr) {
        place_in_session(next, place);
    } else {
        dispatch(next, *place, now);
    }
}

void dispatcher::on_due(claim& due, const supply_outlook& supply) {
    auto& late = static_cast<call&>(due);
    if (late.state == call_state::delayed && late.deadline > context_.now()) {
        resume_delayed(late, supply.may_grow);
    } else {
        timeouts_.on_due(late, supply);
    }
}

void dispatcher::resume_delayed(call& delayed, bool may_grow) {
    const call_ptr keep(&delayed);
    open_.resume(delayed);
    room_.serve_all();
    if (delayed.state == call_state::queued) {
        refuse_if_cycle(delayed, may_grow);
    }
}

void dispatcher::on_breakdown(claim& broken, const error& why) noexcept {
    open_.break_off(static_cast<call&>(broken), why);
}

std::size_t dispatcher::break_down(const error& why) noexcept {
    timeouts_.clear();
    return open_.break_down(why);
}

void dispatcher::cancel(call& given_up, asio::cancellation_type type) {
    switch (given_up.state) {
    case call_state::queued: open_.leave_queue(given_up, errc::cancelled); break;
    case call_state::delayed: open_.fail(given_up, errc::cancelled); break;
    case call_state::running:
        if (type != asio::cancellation_type::total) {
            open_.abandon(given_up, errc::cancelled);
        }
        break;
    default: break;
    }
}

void dispatcher::begin_reset(call& fresh, const lease_claim& with) {
    ++open_.counters().submitted;
    receive(fresh);
    begin(fresh, with, fresh.submitted);
}

void dispatcher::begin(call& next, const lease_claim& with, time_point now) {
    if (may_use_lease(next, with, true)) {
        dispatch(next, *with.at, now);
    }
}

void dispatcher::remove(worker& gone) {
    sessions_.known().left(gone);
    room_.remove(gone);
}

bool dispatcher::forget_session(const std::string& session, std::optional<time_point> unused_since) {
    auto& known = sessions_.known();
    if (unused_since && !known.is_unused(session, *unused_since)) {
        return false;
    }
    auto* const former = sessions_.home_of(session);
    const bool was_known = known.forget(session);
    if (former != nullptr) {
        room_.reroute(former->id().slot);
    }
    return was_known;
}

bool dispatcher::bind_session(const std::string& session, worker& to, affinity_mode mode) {
    auto* const former = sessions_.home_of(session);
    const bool is_bound = sessions_.bind(session, to, mode);
    if (is_bound && former != nullptr) {
        room_.reroute(former->id().slot);
    }
    return is_bound;
}

/// `next` is fresh, or has just been taken out of the queue: because `place` has room for it, unless that is null.
void dispatcher::place_in_session(call& next, worker* place) {
    const call_ptr keep(&next);
    const auto taken = sessions_.route_of(next);
    next.slot.reset(); // it waits for that one no more
    const auto now = context_.now();
    switch (taken.step) {
    case affinity_step::anywhere:
        if (place != nullptr) {
            dispatch(next, *place, now);
        } else {
            go_anywhere(next);
        }
        break;
    case affinity_step::go_home: dispatch(next, *taken.home, now); break;
    case affinity_step::wait_for_home: wait_for(next, *taken.home); break;
    default: refuse_in_session(next, taken); break;
    }
}

/// False if the call has failed, as its session is another worker's, or may not wait for a place at this one.
bool dispatcher::may_use_lease(call& next, const lease_claim& with, bool has_place) {
    if (!next.has_session()) {
        return true;
    }
    const auto taken = sessions_.route_in_lease(next, with, has_place);
    if (is_refusal(taken.step)) {
        refuse_in_session(next, taken);
    }
    return !is_refusal(taken.step);
}

void dispatcher::go_anywhere(call& next) {
    if (next.state == call_state::fresh) {
        place_anywhere(next);
    } else {
        room_.rejoin(next);
    }
}

void dispatcher::wait_for(call& next, worker& home) {
    next.slot = home.id().slot;
    if (next.state == call_state::fresh) {
        queue_up(next);
        return;
    }
    room_.rejoin(next);
    if (outer_of(next) != nullptr) {
        is_refused_as_cycle(next);
    }
}

void dispatcher::refuse_in_session(call& refused, const route& taken) {
    refused.state = call_state::fresh; // it is in no list
    const auto* const lease = lease_of(refused);
    const bool is_foreign = lease != nullptr && taken.home != nullptr && lease->at != taken.home;
    auto [code, info] = sessions_.why_refused(taken, is_foreign);
    const bool may_have_begun = refused.attempts > 0; // before it was to be made once more
    if (code == errc::session_worker_unavailable && may_have_begun) {
        code = errc::worker_lost;
    }
    open_.fail(refused, code, std::move(info));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/dispatcher.hpp"

#include "core/clock.hpp"
#include "core/with_detail.hpp"
#include "policy/admission.hpp"
#include "pool/demand/call_events.hpp"
#include "pool/demand/call_tracing.hpp"
#include "pool/demand/tool_cycle.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace skep {

namespace {

error_info why_refused(errc code) {
    return with_detail(code == errc::timeout
                           ? "it never ran: its deadline had passed before the call was made; give the call "
                             "more time, or make it sooner"
                           : "");
}

} // namespace

dispatcher::dispatcher(const worker_surroundings& surroundings)
    : config_(surroundings.config),
      context_(surroundings.context),
      room_(surroundings),
      sessions_(surroundings, room_),
      homes_(surroundings, room_, sessions_),
      open_(surroundings, room_, sessions_),
      losses_(config_, context_),
      answers_(context_, room_, sessions_, open_, losses_, pace_),
      timeouts_(context_, room_, open_),
      recalls_(context_, room_.places()) {}

void dispatcher::submit(call& new_call, bool may_grow) {
    open_.count_submitted();
    accept(new_call);
    if (new_call.state == call_state::queued) {
        open_.count_waiting();
        refuse_if_cycle(new_call, may_grow);
    }
}

void dispatcher::refuse(call& new_call, errc code, error_info cause) {
    open_.count_submitted();
    if (new_call.refusal) {
        refuse_unsendable(new_call);
    } else {
        open_.fail(new_call, code, std::move(cause));
    }
}

void dispatcher::accept(call& new_call) {
    if (new_call.refusal) {
        refuse_unsendable(new_call);
        return;
    }
    admission_facts facts;
    facts.is_expired = new_call.deadline <= new_call.submitted;
    facts.is_poisonous = losses_.is_poison(new_call, new_call.submitted);
    if (const auto refusal = refusal_of(facts)) {
        open_.fail(new_call, *refusal, why_refused(*refusal));
        return;
    }
    place(new_call);
}

void dispatcher::refuse_unsendable(call& unsendable_call) {
    try {
        std::rethrow_exception(std::exchange(unsendable_call.refusal, nullptr));
    } catch (const error& refusal) {
        open_.fail(unsendable_call, refusal.kind(), refusal.info());
    } catch (const std::bad_alloc&) {
        open_.fail(unsendable_call, errc::out_of_memory);
    } catch (const std::exception& problem) {
        open_.fail(unsendable_call, errc::invalid_request, with_detail(problem.what()));
    } catch (...) {
        open_.fail(unsendable_call, errc::invalid_request,
                   with_detail("a handler of it could not be copied"));
    }
}

/// Applies the configured options of the command, as far as the request sets none.
void dispatcher::apply_command_options(call& new_call) const noexcept {
    const auto found = config_.commands.find(new_call.req.command());
    if (found == config_.commands.end()) {
        return;
    }
    const auto& options = found->second;
    if (options.timeout && !new_call.req.timeout()) {
        new_call.req.timeout(*options.timeout);
    }
    if (options.queue_timeout && !new_call.req.queue_timeout()) {
        new_call.req.queue_timeout(*options.queue_timeout);
    }
    if (options.idempotent && !new_call.req.has_idempotent()) {
        new_call.req.idempotent(*options.idempotent);
    }
    if (options.idle_timeout && new_call.stream != nullptr && !new_call.req.idle_timeout()) {
        new_call.stream->idle_timeout = *options.idle_timeout;
    }
}

void dispatcher::receive(call& new_call) noexcept {
    room_.open(new_call);
    new_call.holder = this;
    new_call.submitted = context_.now();
    if (!config_.commands.empty()) {
        apply_command_options(new_call);
    }
    if (is_automatic() && new_call.has_session()) { // cannot be recalled
        new_call.is_pipelinable = false;
    }
    const auto default_timeout =
        new_call.stream == nullptr ? config_.request_timeout : config_.stream.timeout;
    new_call.deadline =
        std::min(new_call.req.deadline().value_or(time_point::max()),
                 after_limit(new_call.submitted, new_call.req.timeout().value_or(default_timeout)));
}

void dispatcher::place(call& new_call) {
    if (auto* const lease = lease_of(new_call)) {
        place_in_lease(new_call, *lease);
        return;
    }
    if (new_call.has_session()) {
        place_in_session(new_call, nullptr);
    } else {
        place_anywhere(new_call);
    }
}

void dispatcher::place_anywhere(call& new_call) {
    auto& batches = room_.batches();
    batches.arrived(new_call, new_call.submitted);
    auto* const free = room_.place_for(new_call);
    if (free == nullptr) {
        queue_up(new_call);
    } else if (is_to_wait(new_call, *free)) {
        open_.enqueue(new_call, false, new_call.submitted);
    } else if (would_overtake_its_session(new_call)) {
        queue_up(new_call);
    } else {
        dispatch(new_call, *free, new_call.submitted);
    }
}

/// Returns true if the call insists on the worker of its session, and an older call of the session waits
/// behind a batch that is held back.
bool dispatcher::would_overtake_its_session(const call& new_call) {
    const auto is_of_session = [&](claim& each) {
        const auto* const other = each.as_call();
        return other != nullptr && other->req.session() == new_call.req.session();
    };
    return room_.batches().is_holding() && new_call.has_session() && sessions_.is_strict(new_call) &&
           room_.queue().find_unbound(is_of_session) != nullptr;
}

/// Returns true if the new call waits, though `free` has room: for a moment while its batch is gathered, or
/// older calls are, which it must not overtake; at a busy worker until its batch is full, or the worker is
/// free; or an older call of its session may wait behind a batch that is held back. The queue has room for
/// one batch more then.
bool dispatcher::is_to_wait(call& new_call, const worker& free) {
    auto& batches = room_.batches();
    if (!free.calls().has_batches() && !batches.is_holding()) {
        return false; // the usual case
    }
    const auto more = free.calls().batches_of(new_call.req.command()).most;
    return room_.waiting_with(new_call) < config_.queue.limit + more &&
           (batches.is_gathering() || batches.gathers(new_call, free) ||
            (!free.calls().accepts_call() && batches.is_held(new_call, free)) ||
            (new_call.has_session() && batches.is_holding()));
}

void dispatcher::place_in_lease(call& new_call, lease_claim& lease) {
    if (lease.state == lease_state::lost) {
        refuse_in_lease(new_call, lease, context_.lost_code(), "the leased worker had ended before the call");
    } else if (lease.state != lease_state::held) {
        refuse_in_lease(new_call, lease, errc::invalid_request, "the lease was given back before the call");
    } else if (lease.waiting.empty() && lease.can_begin_call()) {
        begin(new_call, lease, new_call.submitted);
    } else if (lease.is_full_until(new_call)) {
        refuse_in_lease(new_call, lease, errc::tool_cycle,
                        "it would wait for ever, for a place of its own lease: " + trail_of(new_call));
    } else if (may_use_lease(new_call, lease, false)) {
        queue_up(new_call);
    }
}

void dispatcher::refuse_in_lease(call& refused_call, const lease_claim& lease, errc code,
                                 std::string reason) {
    auto info = with_detail(std::move(reason));
    info.worker = lease.assigned_id;
    open_.fail(refused_call, code, std::move(info));
}

void dispatcher::queue_up(call& new_call) {
    const auto* const lease = lease_of(new_call);
    const bool has_place = false;
    if (admit(has_place, room_.waiting_with(new_call), config_.queue.limit) == admission::queue) {
        open_.enqueue(new_call, false, new_call.submitted);
    } else if (lease != nullptr) {
        refuse_in_lease(new_call, *lease, errc::pool_saturated, {});
    } else {
        open_.fail(new_call, errc::pool_saturated);
    }
}

bool dispatcher::is_part_of_running_call(const call& new_call) const noexcept {
    for (const auto* outer = outer_of(new_call); outer != nullptr; outer = outer_of(*outer)) {
        if (outer->holder == this &&
            outer->state == call_state::running) { // only the states of own calls are known
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

/// Other workers do not help a call that waits for one worker.
void dispatcher::refuse_if_cycle(call& waiting_call, bool may_grow) {
    const bool may_be_helped = waiting_call.is_leased() || (may_grow && !waiting_call.slot);
    if (outer_of(waiting_call) != nullptr && !may_be_helped) {
        is_refused_as_cycle(waiting_call);
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
    auto info = with_detail("it would wait for ever: " + trail_of(made_by_tool));
    open_.leave_queue(made_by_tool, errc::tool_cycle, std::move(info));
    return true;
}

void dispatcher::dispatch(call& next, worker& target, time_point now) {
    if (room_.batches().is_batched(next, target)) {
        dispatch_batch(next, target, now);
        return;
    }
    begin(next, target, now);
    const bool has_left = is_sent(next, target, now);
    room_.refresh(target);
    if (has_left) {
        follow(next, now);
    } else {
        open_.fail(next, errc::out_of_memory);
    }
}

/// Sends the call together with waiting calls.
void dispatcher::dispatch_batch(call& first, worker& target, time_point now) {
    begin(first, target, now);
    std::vector<call_ptr> kept{&first};
    std::vector<call*> batch{&first};
    for (auto& each : room_.leave_with(first, target)) {
        if (each->has_session() && sessions_.route_of(*each).home != &target) {
            room_.rejoin(*each); // its session has been moved in the meantime
        } else {
            each->slot.reset();
            begin(*each, target, now);
            batch.push_back(each.get());
            kept.push_back(std::move(each));
        }
    }
    losses_.provide_for(batch.size());
    room_.batches().formed(first, batch.size());
    open_.record_batch(first, batch.size(), now);
    begin_batch_trace(batch, context_);
    const bool have_left = are_sent(batch, target, now);
    room_.refresh(target);
    for (auto* const each : batch) {
        if (have_left) {
            follow(*each, now);
        } else {
            open_.fail(*each, errc::out_of_memory);
        }
    }
}

void dispatcher::begin(call& next, worker& target, time_point now) {
    open_.begin(next, target, now);
    if (next.has_session()) {
        sessions_.bind(next, target);
    }
    if (is_automatic()) {
        next.expected_pace = expected_pace_of(next, target);
    }
}

/// A stream may take any time. A batch goes ahead, whole, only if its command is known to be short.
pace dispatcher::expected_pace_of(const call& next, const worker& target) {
    return next.stream != nullptr                     ? pace::slow
           : room_.batches().is_batched(next, target) ? room_.batches().pace_of(next)
                                                      : pace_.pace_of(next.req.command());
}

/// The worker has been sent the call.
void dispatcher::follow(call& sent_call, time_point now) {
    if (sent_call.stream != nullptr) {
        sent_call.stream->heard = now;
    }
    room_.deadlines().set(sent_call, next_check(sent_call));
    if (is_automatic() && sent_call.assigned_worker->calls().is_pipelined(sent_call)) {
        recalls_.wake();
    }
    publish_started(context_, sent_call);
    sent_call.sink->on_sent();
}

/// Returns false without memory for the frame, whose size the caller decides, or for the call's place at the
/// worker.
bool dispatcher::is_sent(call& next, worker& target, time_point now) {
    try {
        target.calls().assign(next, now);
    } catch (const std::bad_alloc&) {
        if (next.id != 0) { // the memory was for something else
            throw;
        }
    }
    return next.id != 0;
}

/// The same for the frames of a batch: all of them, or none.
bool dispatcher::are_sent(const std::vector<call*>& batch, worker& target, time_point now) {
    try {
        target.calls().assign_batch(batch, now);
    } catch (const std::bad_alloc&) {
        if (batch.front()->id != 0) {
            throw;
        }
    }
    return batch.front()->id != 0;
}

/// The claim has just left the queue.
void dispatcher::on_granted(claim& granted_claim, worker* place, time_point now) {
    auto& next = static_cast<call&>(granted_claim);
    if (next.has_session() || place == nullptr) {
        place_in_session(next, place);
    } else {
        dispatch(next, *place, now);
    }
}

void dispatcher::on_due(claim& due_claim, const supply_outlook& supply) {
    auto& late = static_cast<call&>(due_claim);
    if (late.state == call_state::delayed && late.deadline > context_.now()) {
        resume_delayed(late, supply.may_grow);
    } else {
        timeouts_.on_due(late, supply);
    }
}

void dispatcher::resume_delayed(call& delayed_call, bool may_grow) {
    const call_ptr keep(&delayed_call);
    open_.resume(delayed_call);
    room_.serve_all();
    if (delayed_call.state == call_state::queued) {
        refuse_if_cycle(delayed_call, may_grow);
    }
}

void dispatcher::on_breakdown(claim& broken_claim, const error& cause) noexcept {
    open_.break_off(static_cast<call&>(broken_claim), cause);
}

std::size_t dispatcher::break_down(const error& cause) noexcept {
    timeouts_.clear();
    return open_.break_down(cause);
}

void dispatcher::cancel(call& cancelled_call, asio::cancellation_type type) {
    switch (cancelled_call.state) {
    case call_state::queued: open_.leave_queue(cancelled_call, errc::cancelled); break;
    case call_state::delayed: open_.fail(cancelled_call, errc::cancelled); break;
    case call_state::running:
        if (type != asio::cancellation_type::total) {
            open_.abandon(cancelled_call, errc::cancelled);
        }
        break;
    default: break;
    }
}

void dispatcher::begin_reset(call& new_call, const lease_claim& lease) {
    open_.count_submitted();
    receive(new_call);
    begin(new_call, lease, new_call.submitted);
}

void dispatcher::begin(call& next, const lease_claim& lease, time_point now) {
    if (may_use_lease(next, lease, true)) {
        dispatch(next, *lease.assigned_worker, now);
    }
}

void dispatcher::remove(worker& leaver) {
    if (!leaver.life().is_over()) {
        leaver.calls().recall();
    }
    sessions_.known().left(leaver);
    room_.remove(leaver);
}

bool dispatcher::forget_session(const std::string& session, std::optional<time_point> unused_since) {
    auto& known = sessions_.known();
    if (!unused_since) {
        homes_.forget(session);
    }
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

bool dispatcher::bind_session(const std::string& session, worker& target, affinity_mode mode) {
    auto* const former = sessions_.home_of(session);
    const bool is_bound = sessions_.bind(session, target, mode);
    if (is_bound && former != nullptr) {
        room_.reroute(former->id().slot);
    }
    return is_bound;
}

/// `next` is new, or has just left the queue. `place`: the worker with room for `next`, if any.
void dispatcher::place_in_session(call& next, worker* place) {
    const call_ptr keep(&next);
    const auto taken = sessions_.route_of(next);
    next.slot.reset(); // the wait for that slot is over
    const auto now = context_.now();
    switch (taken.step) {
    case affinity_step::anywhere:
        if (homes_.is_due(next, taken)) {
            look_for_home(next);
        } else if (place != nullptr) {
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

/// Returns false after failing the call: its session is bound to another worker, or may not wait for a place
/// at this worker.
bool dispatcher::may_use_lease(call& next, const lease_claim& lease, bool has_place) {
    if (!next.has_session()) {
        return true;
    }
    const auto taken = sessions_.route_in_lease(next, lease, has_place);
    if (is_refusal(taken.step)) {
        refuse_in_session(next, taken);
    }
    return !is_refusal(taken.step);
}

/// With too many searches, a strict call goes where the calls of other programs go, if they have not asked
/// either.
void dispatcher::look_for_home(call& next) {
    const auto& session = next.req.session();
    if (homes_.begin(session)) {
        wait_for_search(next);
    } else if (!sessions_.is_strict(next)) {
        go_anywhere(next);
    } else if (homes_.bind_without_search(session)) {
        place_in_session(next, nullptr);
    } else {
        next.state = call_state::fresh; // the call is in no list
        open_.fail(next, errc::pool_saturated);
    }
}

void dispatcher::wait_for_search(call& next) {
    next.slot = slot_to_be_found;
    if (next.state != call_state::fresh) {
        room_.rejoin(next);
    } else if (room_.queue().unplaced_size() < config_.queue.limit + home_search::most) {
        open_.enqueue(next, false, next.submitted);
    } else {
        open_.fail(next, errc::pool_saturated);
    }
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

void dispatcher::refuse_in_session(call& refused_call, const route& chosen_route) {
    refused_call.state = call_state::fresh; // the call is in no list
    const auto* const lease = lease_of(refused_call);
    const bool is_foreign =
        lease != nullptr && chosen_route.home != nullptr && lease->assigned_worker != chosen_route.home;
    auto [code, info] = sessions_.why_refused(chosen_route, is_foreign);
    const bool may_have_begun = refused_call.attempts > 0; // before the retry
    if (code == errc::session_worker_unavailable && may_have_begun) {
        code = context_.lost_code();
    }
    open_.fail(refused_call, code, std::move(info));
}

} // namespace skep

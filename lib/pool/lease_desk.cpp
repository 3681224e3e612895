// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/lease_desk.hpp"

#include "core/clock.hpp"
#include "core/duration_text.hpp"
#include "pool/call_events.hpp"
#include "pool/tool_cycle.hpp"

#include <algorithm>
#include <new>

namespace skep {

lease_desk::lease_desk(const pool_config& config, const pool_context& context, placement& places,
                       wait_queue& queue, deadline_watch& deadlines, dispatcher_events& events,
                       lease_user& user, const pool_log& log)
    : config_(config),
      context_(context),
      placement_(places),
      queue_(queue),
      deadlines_(deadlines),
      events_(events),
      user_(user),
      log_(log) {}

/// Calls `act` for each lease of the worker; it may take that one out of the list.
template <class Act>
void lease_desk::for_each_of(const worker& place, Act act) {
    for (auto left = leases_.size(); left > 0 && !leases_.empty(); --left) {
        const auto next = leases_.pop_front();
        leases_.push_back(next);
        if (next->at == &place) {
            act(*next);
        }
    }
}

void lease_desk::check_out(lease_claim& fresh, const admission_facts& pool) {
    const lease_ptr keep(&fresh);
    fresh.holder = this;
    fresh.submitted = context_.now();
    const auto refusal = refusal_of(pool);
    try {
        refusal ? end_wait(fresh, *refusal, events_.cause_of_refusal()) : find_place(fresh);
    } catch (const std::exception&) { // out of memory
        if (fresh.state != lease_state::fresh) {
            throw;
        }
        end_wait(fresh, refusal.value_or(errc::invalid_request), {});
    }
}

void lease_desk::find_place(lease_claim& fresh) {
    fresh.of.pool = config_.name;
    const auto limit = fresh.options.queue_timeout().value_or(config_.queue.timeout);
    deadlines_.set(fresh, after_limit(fresh.submitted, limit));
    settle(fresh, nullptr);
}

void lease_desk::settle(lease_claim& wanting, worker* place) {
    const lease_ptr keep(&wanting);
    try {
        worker* home = nullptr;
        const auto step = user_.step_of(wanting, home);
        wanting.slot.reset(); // it waits for that one no more
        switch (step) {
        case affinity_step::anywhere: go_anywhere(wanting, place); break;
        case affinity_step::go_home: reserve(wanting, *home); break;
        case affinity_step::wait_for_home: wait_for(wanting, *home); break;
        default: refuse(wanting, step, home); break;
        }
    } catch (const std::exception&) { // out of memory
        if (wanting.state != lease_state::fresh && wanting.state != lease_state::queued) {
            throw;
        }
        wanting.state = lease_state::fresh; // it is in no list
        end_wait(wanting, errc::invalid_request, {});
    }
}

void lease_desk::go_anywhere(lease_claim& wanting, worker* place) {
    const bool is_fresh = wanting.state == lease_state::fresh;
    if (is_fresh) {
        place = queue_.is_common_empty() ? placement_.pick(wanting) : nullptr;
    }
    if (place != nullptr) {
        reserve(wanting, *place);
    } else {
        is_fresh ? queue_up(wanting) : queue_.put_back(&wanting);
    }
}

void lease_desk::wait_for(lease_claim& wanting, const worker& home) {
    wanting.slot = home.id().slot;
    wanting.state == lease_state::fresh ? queue_up(wanting) : queue_.put_back(&wanting);
}

void lease_desk::refuse(lease_claim& refused, affinity_step why, const worker* home) {
    refused.state = lease_state::fresh; // it is in no list
    error_info info;
    info.worker = home != nullptr ? std::optional(home->id()) : refused.options.worker();
    auto code = errc::unknown_worker;
    if (why == affinity_step::refuse_as_busy) {
        code = errc::worker_busy;
    } else if (why == affinity_step::refuse_as_too_many) {
        code = errc::session_quota_exceeded;
        info.detail = user_.why_too_many();
    } else if (!refused.options.worker()) {
        code = errc::session_worker_unavailable;
        info.detail = worker_is_gone;
    }
    end_wait(refused, code, std::move(info));
}

void lease_desk::queue_up(lease_claim& fresh) {
    const bool has_place = false;
    if (admit(has_place, queue_.size(), config_.queue.limit) != admission::queue) {
        tell_saturated(context_, config_, queue_.size());
        end_wait(fresh, errc::pool_saturated, {});
        return;
    }
    queue_.push_back(&fresh);
    fresh.state = lease_state::queued;
    if (queue_.common_size() == 1) {
        events_.on_waiting();
    }
}

void lease_desk::on_granted(claim& granted, worker& place, time_point) {
    settle(static_cast<lease_claim&>(granted), &place);
}

/// From now on the worker takes no calls of others, in these places.
void lease_desk::reserve(lease_claim& granted, worker& place) {
    const lease_ptr keep(&granted);
    user_.bind_session(granted, place);
    granted.of.slot = place.id().slot;
    granted.of.generation = place.id().generation;
    granted.at = &place;
    granted.places = granted.wants_whole_worker ? place.capacity() : 1;
    place.reserve(granted.places);
    granted.state = lease_state::draining;
    leases_.push_back(keep);
    placement_.refresh(place);
    look(granted);
    user_.on_queue_shrunk();
}

void lease_desk::look_at_those_of(worker& place) {
    for_each_of(place, [this](lease_claim& each) { look(each); });
}

/// Does what can be done for it now.
void lease_desk::look(lease_claim& lease) {
    if (lease.is_dropped && lease.state == lease_state::held) { // there was no memory to say so
        give_back(lease);
        return;
    }
    switch (lease.state) {
    case lease_state::draining:
        if (!lease.wants_whole_worker || lease.at->common_load() == 0) {
            hand_over(lease);
        }
        break;
    case lease_state::held: begin_calls(lease); break;
    case lease_state::returning: end_return(lease); break;
    default: break;
    }
}

void lease_desk::hand_over(lease_claim& granted) {
    granted.state = lease_state::held;
    granted.granted = context_.now();
    deadlines_.remove(granted);
    const auto limit = granted.options.leak_threshold().value_or(config_.lease.leak_threshold);
    try {
        deadlines_.set(granted, after_limit(context_.now(), limit));
    } catch (const std::bad_alloc&) {} // a leak would not be noticed
    granted.answer();
}

void lease_desk::place(call& fresh, lease_claim& with) {
    if (with.state == lease_state::lost) {
        refuse_call(fresh, with, errc::worker_lost, "the leased worker had ended before the call");
    } else if (with.state != lease_state::held) {
        refuse_call(fresh, with, errc::invalid_request, "the lease was given back before the call");
    } else if (with.waiting.empty() && can_begin(with)) {
        user_.begin(fresh, *with.at, fresh.submitted);
    } else if (waits_for_itself(fresh, with)) {
        refuse_call(fresh, with, errc::tool_cycle,
                    "it would wait for ever, for a place of its own lease: " + trail_of(fresh));
    } else if (user_.may_wait(fresh, *with.at)) {
        queue_up(fresh, with);
    }
}

void lease_desk::refuse_call(call& fresh, const lease_claim& with, errc code, std::string why) {
    error_info info;
    info.worker = with.of;
    info.detail = std::move(why);
    user_.fail_call(fresh, code, std::move(info));
}

void lease_desk::queue_up(call& fresh, lease_claim& with) {
    if (with.waiting.size() >= config_.queue.limit) {
        refuse_call(fresh, with, errc::pool_saturated, {});
        return;
    }
    const auto limit = fresh.req.queue_timeout().value_or(config_.queue.timeout);
    deadlines_.set(fresh, std::min(fresh.deadline, after_limit(fresh.submitted, limit)));
    fresh.state = call_state::queued;
    with.waiting.push_back(&fresh);
    ++waiting_calls_;
    tell_enqueued(context_, config_.name, fresh, with.waiting.size());
}

void lease_desk::remove(call& waiting, lease_claim& with) noexcept {
    with.waiting.remove(waiting);
    --waiting_calls_;
}

void lease_desk::begin_calls(lease_claim& lease) {
    while (lease.state == lease_state::held && !lease.waiting.empty() && can_begin(lease)) {
        const auto next = lease.waiting.pop_front();
        --waiting_calls_;
        user_.begin(*next, *lease.at, context_.now());
    }
}

/// A probe of the worker's health may be in its place for a moment.
bool lease_desk::can_begin(const lease_claim& lease) noexcept {
    const auto& at = *lease.at;
    return at.takes_calls() && at.load() < at.capacity() && calls_at_worker(lease) < lease.places;
}

std::size_t lease_desk::calls_at_worker(const lease_claim& lease) noexcept {
    std::size_t count = 0;
    lease.at->for_each_call([&](const call& each) { count += lease_of(each) == &lease ? 1 : 0; });
    return count;
}

/// Whether calls that can only end after this one hold all places of the lease.
bool lease_desk::waits_for_itself(const call& fresh, const lease_claim& with) noexcept {
    std::size_t held = 0;
    for (const auto* outer = outer_of(fresh); outer != nullptr; outer = outer_of(*outer)) {
        held += lease_of(*outer) == &with ? 1 : 0;
    }
    return held >= with.places;
}

void lease_desk::cancel(lease_claim& given_up) {
    if (given_up.state == lease_state::queued || given_up.state == lease_state::draining) {
        leave(given_up, errc::cancelled, {});
    }
}

void lease_desk::give_back(lease_claim& lease) {
    const lease_ptr keep(&lease);
    switch (lease.state) {
    case lease_state::held:
        lease.state = lease_state::returning;
        deadlines_.remove(lease);
        end_calls(lease);
        end_return(lease);
        break;
    case lease_state::lost: // its worker may still be at calls
        end_calls(lease);
        end(lease);
        break;
    default: cancel(lease); break;
    }
    if (lease.state != lease_state::returning) {
        lease.answer_closer();
    }
}

void lease_desk::cancel_close(lease_claim& lease) {
    lease.was_close_cancelled = static_cast<bool>(lease.closer);
    lease.answer_closer();
}

/// Those that wait, and those that its worker has.
void lease_desk::end_calls(lease_claim& lease) {
    while (!lease.waiting.empty()) {
        user_.fail_call(lease.waiting.front(), errc::cancelled, {});
    }
    for (auto* open = user_.running_call_of(lease); open != nullptr; open = user_.running_call_of(lease)) {
        user_.abandon_call(*open, errc::cancelled);
    }
}

/// Once its calls have ended: has its worker reset, and lets go of it.
void lease_desk::end_return(lease_claim& lease) {
    if (lease.state != lease_state::returning || calls_at_worker(lease) > 0) {
        return;
    }
    const bool can_be_reset = !lease.at->life().is(obstacle::leaving);
    if (!lease.reset || !can_be_reset) {
        release(lease);
    } else if (can_begin(lease)) { // else it can in a while, or its worker leaves
        const auto reset = std::move(lease.reset);
        reset->ties->lease = &lease;
        user_.begin_reset(*reset, *lease.at);
    }
}

void lease_desk::on_reset_failed(lease_claim& lease, const std::string& why) {
    if (lease.at != nullptr) {
        lease.at->retire({retirement::kind::unwell, "the reset command of a lease failed: " + why});
    }
}

/// Others may have its worker.
void lease_desk::release(lease_claim& lease) {
    const lease_ptr keep(&lease);
    auto& place = *lease.at;
    place.release(lease.places);
    lease.at = nullptr;
    end(lease);
    lease.answer_closer();
    placement_.refresh(place);
    user_.serve(place);
}

/// It is in the list of leases.
void lease_desk::end(lease_claim& over) {
    over.state = lease_state::over;
    user_.end_session_use(over);
    over.reset.reset();
    deadlines_.remove(over);
    leases_.remove(over);
}

void lease_desk::on_left(const worker& gone) {
    bool wait_again = false;
    for_each_of(gone, [&](lease_claim& each) {
        wait_again = wait_again || each.state == lease_state::draining;
        lose(each);
    });
    if (wait_again) {
        user_.serve_all();
    }
}

void lease_desk::lose(lease_claim& lease) {
    const lease_ptr keep(&lease);
    lease.at = nullptr;
    switch (lease.state) {
    case lease_state::draining:
        leases_.remove(lease);
        lease.state = lease_state::queued;
        queue_.push_front(&lease);
        settle(static_cast<lease_claim&>(*queue_.remove(lease)), nullptr); // in its place in the order
        break;
    case lease_state::held:
        lease.state = lease_state::lost;
        user_.end_session_use(lease);
        lease.reset.reset();
        deadlines_.remove(lease);
        while (!lease.waiting.empty()) {
            error_info info;
            info.detail = "the leased worker ended";
            user_.fail_call(lease.waiting.front(), errc::worker_lost, std::move(info));
        }
        break;
    default:
        end(lease);
        lease.answer_closer();
        break;
    }
}

/// The checkout fails.
void lease_desk::end_wait(lease_claim& waiting, errc code, error_info info) {
    const lease_ptr keep(&waiting);
    const auto was = waiting.state;
    try {
        info.pool = config_.name;
        info.command = "checkout";
        info.queue_depth = queue_.size();
        info.wait_time = context_.now() - waiting.submitted;
    } catch (const std::bad_alloc&) { // it tells less
    }
    waiting.failure = {code, std::move(info)};
    deadlines_.remove(waiting);
    user_.end_session_use(waiting);
    waiting.reset.reset();
    auto* const place = std::exchange(waiting.at, nullptr);
    if (was == lease_state::queued) {
        queue_.remove(waiting);
    } else if (was == lease_state::draining) {
        leases_.remove(waiting);
        place->release(waiting.places);
        placement_.refresh(*place);
    }
    waiting.state = lease_state::over;
    waiting.answer();
    user_.on_queue_shrunk();
}

/// It has held up others: those that wait for the same worker, too.
void lease_desk::leave(lease_claim& waiting, errc code, error_info info) {
    const auto slot = waiting.at != nullptr ? std::optional(waiting.of.slot) : waiting.slot;
    end_wait(waiting, code, std::move(info));
    if (slot) {
        user_.serve_slot(*slot);
    }
    user_.serve_all();
}

void lease_desk::on_due(claim& due) {
    auto& late = static_cast<lease_claim&>(due);
    const bool was_held = late.state == lease_state::held;
    events_.settle();
    if (late.heap_place != deadline_node::outside) {
        return; // it is further on by now
    }
    if (late.state == lease_state::queued || late.state == lease_state::draining) {
        fail_waiting(late);
    } else if (was_held && late.state == lease_state::held) {
        late.is_dropped ? give_back(late) : warn_of_leak(late);
    }
}

void lease_desk::fail_waiting(lease_claim& late) {
    error_info info;
    info.detail = events_.shortage();
    const bool is_any_up = placement_.is_any_up();
    if (is_any_up && info.detail.empty()) {
        info.detail = late.slot
                          ? "the worker that it insists on was busy; raise queue.timeout or the checkout's "
                            "queue_timeout"
                          : "no worker could be spared; raise workers, queue.timeout or the checkout's "
                            "queue_timeout";
    }
    leave(late, is_any_up ? errc::queue_timeout : errc::no_worker, std::move(info));
}

void lease_desk::warn_of_leak(const lease_claim& held) const {
    context_.tell<events::lease_leaked>([&] {
        return events::lease_leaked{held.of, context_.now() - held.granted, held.where.file_name(),
                                    held.where.line(), held.where.function_name()};
    });
    log_(log_level::warning, [&] {
        const auto limit = held.options.leak_threshold().value_or(config_.lease.leak_threshold);
        return "a lease of " + to_string(held.of) + " has been held for " + in_milliseconds(limit) +
               " and may have leaked; checked out at " + held.where.file_name() + ":" +
               std::to_string(held.where.line()) + " in " + held.where.function_name();
    });
}

void lease_desk::refuse_checkouts(errc code, const error_info& info) {
    queue_.for_each([&](claim& each) {
        if (each.as_call() == nullptr) {
            end_wait(static_cast<lease_claim&>(each), code, info);
        }
    });
    leases_.for_each([&](lease_claim& each) {
        if (each.state == lease_state::draining) {
            end_wait(each, code, info);
        }
    });
}

void lease_desk::refuse_calls(errc code, const error_info& info) {
    leases_.for_each([&](lease_claim& each) {
        while (!each.waiting.empty()) {
            user_.fail_call(each.waiting.front(), code, info);
        }
    });
}

void lease_desk::forget_callers() noexcept {
    leases_.for_each([](lease_claim& each) { each.forget(); });
}

} // namespace skep

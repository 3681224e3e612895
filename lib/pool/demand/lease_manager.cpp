// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/lease_manager.hpp"

#include "core/clock.hpp"
#include "core/duration_text.hpp"
#include "policy/admission.hpp"
#include "pool/demand/call_events.hpp"

#include <algorithm>

namespace skep {

lease_manager::lease_manager(const worker_surroundings& surroundings, dispatcher& calls, const pool_log& log)
    : config_(surroundings.config),
      context_(surroundings.context),
      calls_(calls),
      room_(calls.room()),
      sessions_(calls.sessions()),
      log_(log) {}

void lease_manager::receive(lease_claim& fresh) noexcept {
    room_.open(fresh);
    fresh.holder = this;
    fresh.submitted = context_.now();
}

void lease_manager::check_out(lease_claim& fresh, const std::optional<route_refusal>& refusal) {
    const lease_ptr keep(&fresh);
    if (refusal) {
        end_wait(fresh, refusal->code, refusal->info);
    } else {
        find_place(fresh);
    }
}

void lease_manager::find_place(lease_claim& fresh) {
    fresh.of.pool = config_.name;
    const auto limit = fresh.options.queue_timeout().value_or(config_.queue.timeout);
    room_.deadlines().set(fresh, after_limit(fresh.submitted, limit));
    assign_place(fresh, nullptr);
}

void lease_manager::on_granted(claim& granted, worker* place, time_point) {
    assign_place(static_cast<lease_claim&>(granted), place);
}

/// `wanting` is fresh, or has just been taken out of the queue: because `place` has room for it, unless that is null.
void lease_manager::assign_place(lease_claim& wanting, worker* place) {
    const lease_ptr keep(&wanting);
    const auto taken = sessions_.route_of(wanting);
    wanting.slot.reset(); // it waits for that one no more
    switch (taken.step) {
    case affinity_step::anywhere: go_anywhere(wanting, place); break;
    case affinity_step::go_home: reserve(wanting, *taken.home); break;
    case affinity_step::wait_for_home:
        wanting.slot = taken.home->id().slot;
        wait(wanting);
        break;
    default: refuse(wanting, taken); break;
    }
}

void lease_manager::go_anywhere(lease_claim& wanting, worker* place) {
    if (wanting.state == lease_state::fresh) {
        place = room_.place_for(wanting);
    }
    if (place != nullptr) {
        reserve(wanting, *place);
    } else {
        wait(wanting);
    }
}

void lease_manager::wait(lease_claim& wanting) {
    if (wanting.state != lease_state::fresh) {
        room_.rejoin(wanting);
        return;
    }
    const bool has_place = false;
    const auto waiting = room_.queue().size();
    if (admit(has_place, waiting, config_.queue.limit) != admission::queue) {
        publish_saturated(context_, config_, waiting);
        end_wait(wanting, errc::pool_saturated, {});
        return;
    }
    room_.join(wanting);
    wanting.state = lease_state::queued;
}

void lease_manager::refuse(lease_claim& refused, const route& taken) {
    refused.state = lease_state::fresh; // it is in no list
    auto [code, info] = sessions_.why_refused(taken, false);
    if (refused.options.worker() && code == errc::session_worker_unavailable) {
        code = errc::unknown_worker;
        info.worker = refused.options.worker();
        info.detail.clear();
    }
    end_wait(refused, code, std::move(info));
}

/// From now on the worker takes no calls of others, in these places.
void lease_manager::reserve(lease_claim& granted, worker& place) {
    const lease_ptr keep(&granted);
    sessions_.bind(granted, place);
    granted.of.slot = place.id().slot;
    granted.of.generation = place.id().generation;
    granted.at = &place;
    granted.places = granted.wants_whole_worker ? place.calls().capacity() : 1;
    place.calls().reserve(granted.places);
    granted.state = lease_state::draining;
    room_.leases().push_back(keep);
    room_.refresh(place);
    check(granted);
}

void lease_manager::on_changed(claim& changed, bool has_left) {
    auto& lease = static_cast<lease_claim&>(changed);
    if (has_left) {
        lose(lease);
    } else {
        check(lease);
    }
}

/// Does what can be done for it now.
void lease_manager::check(lease_claim& lease) {
    if (lease.is_dropped && lease.state == lease_state::held) { // there was no memory to say so
        close(lease);
        return;
    }
    switch (lease.state) {
    case lease_state::draining:
        if (!lease.wants_whole_worker || lease.at->calls().common_load() == 0) {
            deliver(lease);
        }
        break;
    case lease_state::held: begin_calls(lease); break;
    case lease_state::returning: end_return(lease); break;
    default: break;
    }
}

void lease_manager::deliver(lease_claim& granted) {
    granted.state = lease_state::held;
    granted.granted = context_.now();
    room_.deadlines().remove(granted);
    const auto limit = granted.options.leak_threshold().value_or(config_.lease.leak_threshold);
    room_.deadlines().set(granted, after_limit(context_.now(), limit));
    granted.answer();
}

void lease_manager::begin_calls(lease_claim& lease) {
    while (lease.state == lease_state::held && !lease.waiting.empty() && lease.can_begin_call()) {
        const auto next = room_.next_of(lease);
        calls_.begin(*next, lease, context_.now());
    }
}

void lease_manager::cancel(lease_claim& given_up) {
    if (given_up.state == lease_state::queued || given_up.state == lease_state::draining) {
        leave(given_up, errc::cancelled, {});
    }
}

void lease_manager::close(lease_claim& lease) {
    const lease_ptr keep(&lease);
    switch (lease.state) {
    case lease_state::held:
        lease.state = lease_state::returning;
        room_.deadlines().remove(lease);
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

void lease_manager::cancel_close(lease_claim& lease) {
    lease.was_close_cancelled = static_cast<bool>(lease.closer);
    lease.answer_closer();
}

/// Those that wait, and those that its worker has.
void lease_manager::end_calls(lease_claim& lease) {
    calls_.open().fail_waiting_in(lease, errc::cancelled, {});
    calls_.open().abandon_running_in(lease, errc::cancelled);
}

/// Once its calls have ended: has its worker reset, and lets go of it.
void lease_manager::end_return(lease_claim& lease) {
    if (lease.state != lease_state::returning || lease.calls_at_worker() > 0) {
        return;
    }
    const bool can_be_reset = !lease.at->life().departure();
    if (!lease.reset || !can_be_reset) {
        release(lease);
    } else if (lease.can_begin_call()) { // else it can in a while, or its worker leaves
        const auto reset = std::move(lease.reset);
        reset->ties->lease = &lease;
        calls_.begin_reset(*reset, lease);
    }
}

void lease_manager::on_reset_failed(lease_claim& lease, const std::string& why) {
    lease.at->retire(departure_cause::failed_reset, "the reset command of a lease failed: " + why);
}

/// Others may have its worker.
void lease_manager::release(lease_claim& lease) {
    const lease_ptr keep(&lease);
    auto& place = *lease.at;
    place.calls().release(lease.places);
    lease.at = nullptr;
    end(lease);
    lease.answer_closer();
    room_.refresh(place);
    room_.serve(place);
}

/// It is in the list of leases, unless it was lost with its pool.
void lease_manager::end(lease_claim& over) {
    waiting_room::close(over);
    over.state = lease_state::over;
    sessions_.end_use(over);
    over.reset.reset();
    room_.deadlines().remove(over);
    if (over.is_linked()) {
        room_.leases().remove(over);
    }
}

void lease_manager::lose(lease_claim& lease) {
    const lease_ptr keep(&lease);
    error_info info;
    lease.at = nullptr;
    switch (lease.state) {
    case lease_state::draining:
        room_.leases().remove(lease);
        lease.state = lease_state::queued;
        room_.join_first(lease); // which is its place in the order from now on
        room_.leave(lease);
        assign_place(lease, nullptr);
        break;
    case lease_state::held:
        lease.state = lease_state::lost;
        sessions_.end_use(lease);
        lease.reset.reset();
        room_.deadlines().remove(lease);
        if (!lease.waiting.empty()) {
            info.detail = "the leased worker ended";
            calls_.open().fail_waiting_in(lease, errc::worker_lost, info);
        }
        break;
    default:
        end(lease);
        lease.answer_closer();
        break;
    }
}

/// The checkout fails.
void lease_manager::end_wait(lease_claim& waiting, errc code, error_info info) {
    const lease_ptr keep(&waiting);
    const auto was = waiting.state;
    info.pool = config_.name;
    info.command = "checkout";
    info.queue_depth = room_.queue().size();
    info.wait_time = context_.now() - waiting.submitted;
    waiting.failure = {code, std::move(info)};
    room_.deadlines().remove(waiting);
    sessions_.end_use(waiting);
    waiting.reset.reset();
    auto* const place = std::exchange(waiting.at, nullptr);
    if (was == lease_state::queued) {
        room_.leave(waiting);
    } else if (was == lease_state::draining) {
        room_.leases().remove(waiting);
        place->calls().release(waiting.places);
        room_.refresh(*place);
    }
    waiting.state = lease_state::over;
    waiting_room::close(waiting);
    waiting.answer();
}

/// Wherever it is. It has no worker any more.
void lease_manager::on_breakdown(claim& broken, const error& why) noexcept {
    auto& lease = static_cast<lease_claim&>(broken);
    sessions_.end_use(lease);
    lease.reset.reset();
    lease.waiting.clear();
    lease.at = nullptr;
    if (lease.caller) {
        lease.failure = claim_failure(why);
        lease.state = lease_state::over;
        lease.answer();
    } else {
        lease.state = lease.closer ? lease_state::over : lease_state::lost;
        lease.answer_closer();
    }
}

/// It has held up others.
void lease_manager::leave(lease_claim& waiting, errc code, error_info info) {
    end_wait(waiting, code, std::move(info));
    room_.serve_all();
}

void lease_manager::on_due(claim& due, const supply_outlook& supply) {
    auto& late = static_cast<lease_claim&>(due);
    if (late.state == lease_state::queued || late.state == lease_state::draining) {
        fail_waiting(late, supply);
    } else if (late.state == lease_state::held) {
        if (late.is_dropped) {
            close(late);
        } else {
            warn_of_leak(late);
        }
    }
}

void lease_manager::fail_waiting(lease_claim& late, const supply_outlook& supply) {
    error_info info;
    info.detail = supply.shortage;
    const auto code = room_.places().is_any_up() ? errc::queue_timeout : errc::no_worker;
    if (code == errc::queue_timeout && info.detail.empty()) {
        info.detail = late.slot ? "the worker that it insists on was busy; raise "
                                : "no worker could be spared; raise workers, ";
        info.detail += "queue.timeout or the checkout's queue_timeout";
    }
    leave(late, code, std::move(info));
}

void lease_manager::warn_of_leak(const lease_claim& held) const {
    context_.publish<events::lease_leaked>([&] {
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

void lease_manager::refuse_checkouts(errc code, const error_info& info) {
    room_.queue().for_each([&](claim& each) {
        if (each.as_call() == nullptr) {
            end_wait(static_cast<lease_claim&>(each), code, info);
        }
    });
    room_.leases().for_each([&](lease_claim& each) {
        if (each.state == lease_state::draining) {
            end_wait(each, code, info);
        }
    });
}

} // namespace skep

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

void lease_manager::receive(lease_claim& new_lease) noexcept {
    room_.open(new_lease);
    new_lease.holder = this;
    new_lease.submitted = context_.now();
}

void lease_manager::check_out(lease_claim& new_lease, const std::optional<route_refusal>& refusal) {
    const lease_ptr keep(&new_lease);
    if (refusal) {
        end_wait(new_lease, refusal->code, refusal->info);
    } else {
        find_place(new_lease);
    }
}

void lease_manager::find_place(lease_claim& new_lease) {
    new_lease.assigned_id.pool = config_.name;
    const auto limit = new_lease.options.queue_timeout().value_or(config_.queue.timeout);
    room_.deadlines().set(new_lease, after_limit(new_lease.submitted, limit));
    assign_place(new_lease, nullptr);
}

void lease_manager::on_granted(claim& granted_claim, worker* place, time_point) {
    assign_place(static_cast<lease_claim&>(granted_claim), place);
}

/// `claimant` is new, or has just left the queue. `place`: the worker with room for `claimant`; null if there
/// is none.
void lease_manager::assign_place(lease_claim& claimant, worker* place) {
    const lease_ptr keep(&claimant);
    const auto taken = sessions_.route_of(claimant);
    claimant.slot.reset(); // the wait for that slot is over
    switch (taken.step) {
    case affinity_step::anywhere: go_anywhere(claimant, place); break;
    case affinity_step::go_home: reserve(claimant, *taken.home); break;
    case affinity_step::wait_for_home:
        claimant.slot = taken.home->id().slot;
        wait(claimant);
        break;
    default: refuse(claimant, taken); break;
    }
}

void lease_manager::go_anywhere(lease_claim& claimant, worker* place) {
    if (claimant.state == lease_state::fresh) {
        place = room_.place_for(claimant);
    }
    if (place != nullptr) {
        reserve(claimant, *place);
    } else {
        wait(claimant);
    }
}

void lease_manager::wait(lease_claim& claimant) {
    if (claimant.state != lease_state::fresh) {
        room_.rejoin(claimant);
        return;
    }
    const bool has_place = false;
    const auto waiting = room_.queue().size();
    if (admit(has_place, waiting, config_.queue.limit) != admission::queue) {
        publish_saturated(context_, config_, waiting);
        end_wait(claimant, errc::pool_saturated, {});
        return;
    }
    room_.join(claimant);
    claimant.state = lease_state::queued;
}

void lease_manager::refuse(lease_claim& refused_lease, const route& chosen_route) {
    refused_lease.state = lease_state::fresh; // the lease is in no list
    auto [code, info] = sessions_.why_refused(chosen_route, false);
    if (refused_lease.options.worker() && code == errc::session_worker_unavailable) {
        code = errc::unknown_worker;
        info.worker = refused_lease.options.worker();
        info.detail.clear();
    }
    end_wait(refused_lease, code, std::move(info));
}

/// From now on these places of the worker take no calls of others.
void lease_manager::reserve(lease_claim& granted_lease, worker& place) {
    const lease_ptr keep(&granted_lease);
    sessions_.bind(granted_lease, place);
    granted_lease.assigned_id.slot = place.id().slot;
    granted_lease.assigned_id.generation = place.id().generation;
    granted_lease.assigned_worker = &place;
    granted_lease.places = granted_lease.wants_whole_worker ? place.calls().capacity() : 1;
    place.calls().reserve(granted_lease.places);
    granted_lease.state = lease_state::draining;
    room_.leases().push_back(keep);
    room_.refresh(place);
    check(granted_lease);
}

void lease_manager::on_changed(claim& changed_claim, bool has_left) {
    auto& lease = static_cast<lease_claim&>(changed_claim);
    if (has_left) {
        lose(lease);
    } else {
        check(lease);
    }
}

/// Does the next step that the lease's state allows.
void lease_manager::check(lease_claim& lease) {
    if (lease.is_dropped && lease.state == lease_state::held) { // return lost for lack of memory
        close(lease);
        return;
    }
    switch (lease.state) {
    case lease_state::draining:
        if (!lease.wants_whole_worker || lease.assigned_worker->calls().common_load() == 0) {
            deliver(lease);
        }
        break;
    case lease_state::held: begin_calls(lease); break;
    case lease_state::returning: end_return(lease); break;
    default: break;
    }
}

void lease_manager::deliver(lease_claim& granted_lease) {
    granted_lease.state = lease_state::held;
    granted_lease.granted = context_.now();
    room_.deadlines().remove(granted_lease);
    const auto limit = granted_lease.options.leak_threshold().value_or(config_.lease.leak_threshold);
    room_.deadlines().set(granted_lease, after_limit(context_.now(), limit));
    granted_lease.answer();
}

void lease_manager::begin_calls(lease_claim& lease) {
    while (lease.state == lease_state::held && !lease.waiting.empty() && lease.can_begin_call()) {
        const auto next = room_.next_of(lease);
        calls_.begin(*next, lease, context_.now());
    }
}

void lease_manager::cancel(lease_claim& cancelled_lease) {
    if (cancelled_lease.state == lease_state::queued || cancelled_lease.state == lease_state::draining) {
        leave(cancelled_lease, errc::cancelled, {});
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
    case lease_state::lost: // its worker may still have calls
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
    if (lease.closer) {
        error_info info;
        info.worker = lease.assigned_id;
        lease.answer_closer(lazy_error(errc::cancelled, std::move(info)));
    }
}

/// Ends the waiting and the running calls of the lease.
void lease_manager::end_calls(lease_claim& lease) {
    calls_.open_calls().fail_waiting_in(lease, errc::cancelled, {});
    calls_.open_calls().abandon_running_in(lease, errc::cancelled);
}

/// Once the calls of the lease have ended: resets and releases the worker.
void lease_manager::end_return(lease_claim& lease) {
    if (lease.state != lease_state::returning || lease.places_taken() > 0) {
        return;
    }
    const bool can_be_reset = !lease.assigned_worker->life().departure();
    if (!lease.reset || !can_be_reset) {
        release(lease);
    } else if (lease.can_begin_call()) { // otherwise a place becomes free later, or the worker leaves
        const auto reset = std::move(lease.reset);
        reset->ties->lease = &lease;
        calls_.begin_reset(*reset, lease);
    }
}

void lease_manager::on_reset_failed(lease_claim& lease, const std::string& reason) {
    lease.assigned_worker->retire(departure_cause::failed_reset,
                                  "the reset command of a lease failed: " + reason);
}

/// Makes the worker available to others.
void lease_manager::release(lease_claim& lease) {
    const lease_ptr keep(&lease);
    auto& place = *lease.assigned_worker;
    place.calls().release(lease.places);
    lease.assigned_worker = nullptr;
    end(lease);
    lease.answer_closer();
    room_.refresh(place);
    room_.serve(place);
}

/// The lease is in the list of leases, unless it was lost with its pool.
void lease_manager::end(lease_claim& ended_lease) {
    waiting_room::close(ended_lease);
    ended_lease.state = lease_state::over;
    sessions_.end_use(ended_lease);
    ended_lease.reset.reset();
    room_.deadlines().remove(ended_lease);
    if (ended_lease.is_linked()) {
        room_.leases().remove(ended_lease);
    }
}

void lease_manager::lose(lease_claim& lease) {
    const lease_ptr keep(&lease);
    error_info info;
    lease.assigned_worker = nullptr;
    switch (lease.state) {
    case lease_state::draining:
        room_.leases().remove(lease);
        lease.state = lease_state::queued;
        room_.join_first(lease); // sets the lease's place in the order from now on
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
            calls_.open_calls().fail_waiting_in(lease, context_.lost_code(), info);
        }
        break;
    default:
        end(lease);
        lease.answer_closer();
        break;
    }
}

/// Fails the checkout.
void lease_manager::end_wait(lease_claim& waiting_lease, errc code, error_info info) {
    const lease_ptr keep(&waiting_lease);
    const auto was = waiting_lease.state;
    info.pool = config_.name;
    info.command = "checkout";
    info.queue_depth = room_.queue().size();
    info.wait_time = context_.now() - waiting_lease.submitted;
    waiting_lease.failure = {code, std::move(info)};
    room_.deadlines().remove(waiting_lease);
    sessions_.end_use(waiting_lease);
    waiting_lease.reset.reset();
    auto* const place = std::exchange(waiting_lease.assigned_worker, nullptr);
    if (was == lease_state::queued) {
        room_.leave(waiting_lease);
    } else if (was == lease_state::draining) {
        room_.leases().remove(waiting_lease);
        place->calls().release(waiting_lease.places);
        room_.refresh(*place);
    }
    waiting_lease.state = lease_state::over;
    waiting_room::close(waiting_lease);
    waiting_lease.answer();
}

/// Ends the lease in any state. The lease has no worker any more.
void lease_manager::on_breakdown(claim& broken_claim, const error& cause) noexcept {
    auto& lease = static_cast<lease_claim&>(broken_claim);
    sessions_.end_use(lease);
    lease.reset.reset();
    lease.waiting.clear();
    lease.assigned_worker = nullptr;
    if (lease.caller) {
        lease.failure = lazy_error(cause);
        lease.state = lease_state::over;
        lease.answer();
    } else {
        lease.state = lease.closer ? lease_state::over : lease_state::lost;
        lease.answer_closer();
    }
}

/// Fails a checkout, and serves the claims that the checkout held up.
void lease_manager::leave(lease_claim& waiting_lease, errc code, error_info info) {
    end_wait(waiting_lease, code, std::move(info));
    room_.serve_all();
}

void lease_manager::on_due(claim& due_claim, const supply_outlook& supply) {
    auto& late = static_cast<lease_claim&>(due_claim);
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

void lease_manager::fail_waiting(lease_claim& waiting_lease, const supply_outlook& supply) {
    error_info info;
    info.detail = supply.shortage;
    const auto code = room_.places().is_any_up() ? errc::queue_timeout : context_.absent_code();
    if (code == errc::queue_timeout && info.detail.empty()) {
        info.detail = waiting_lease.slot ? "the worker that it insists on was busy; raise "
                                         : "no worker could be spared; raise workers, ";
        info.detail += "queue.timeout or the checkout's queue_timeout";
    }
    leave(waiting_lease, code, std::move(info));
}

void lease_manager::warn_of_leak(const lease_claim& held_lease) const {
    context_.publish<events::lease_leaked>([&] {
        return events::lease_leaked{held_lease.assigned_id, context_.now() - held_lease.granted,
                                    held_lease.location.file_name(), held_lease.location.line(),
                                    held_lease.location.function_name()};
    });
    log_(log_level::warning, [&] {
        const auto limit = held_lease.options.leak_threshold().value_or(config_.lease.leak_threshold);
        return "a lease of " + to_string(held_lease.assigned_id) + " has been held for " +
               in_milliseconds(limit) + " and may have leaked; checked out at " +
               held_lease.location.file_name() + ":" + std::to_string(held_lease.location.line()) + " in " +
               held_lease.location.function_name();
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

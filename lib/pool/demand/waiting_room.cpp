// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/waiting_room.hpp"

#include <tuple>

namespace skep {

namespace {

// Claims whose batch is to grow, and that others may overtake for that time.
constexpr std::size_t most_passed_over = 64;

/// A checkout may take a worker for long, and an unbound call of a session waits behind the older ones of its
/// session.
bool may_overtake(claim& later) noexcept {
    const auto* const subject = later.as_call();
    return subject != nullptr && (later.slot || !subject->has_session());
}

} // namespace

void waiting_room::enlist(worker& new_worker) {
    placement_.enlist(new_worker);
    serve(new_worker);
}

void waiting_room::remove(worker& leaver) {
    placement_.remove(leaver);
    notify_leases_of(leaver, true);
    reroute(leaver.id().slot);
}

/// A notified lease may leave the list.
void waiting_room::notify_leases_of(const worker& changed_worker, bool has_left) {
    for (auto left = leases_.size(); left > 0 && !leases_.empty(); --left) {
        const auto next = leases_.pop_front();
        leases_.push_back(next);
        if (next->assigned_worker == &changed_worker) {
            next->holder->on_changed(*next, has_left);
        }
    }
}

void waiting_room::reroute(std::uint32_t slot) {
    claim_list<claim> waiting;
    while (auto* const next = queue_.first_bound_to(slot)) {
        waiting.push_back(queue_.remove(*next));
    }
    reroute(std::move(waiting));
}

void waiting_room::reroute(const std::string& session) {
    claim_list<claim> waiting;
    const auto is_of_session = [&](claim& each) { return each.as_call()->req.session() == session; };
    while (auto* const next = queue_.find_unplaced(is_of_session)) {
        waiting.push_back(queue_.remove(*next));
    }
    reroute(std::move(waiting));
}

void waiting_room::reroute(claim_list<claim> claims) {
    while (!claims.empty()) {
        const auto next = claims.pop_front();
        next->holder->on_granted(*next, nullptr, context_.now());
    }
    serve_all();
}

/// The permit goes straight from the worker that became free to the oldest claim.
void waiting_room::serve(worker& place) {
    if (place.calls().is_leased()) {
        notify_leases_of(place, false);
    }
    bool has_held_up_others = false;
    while (auto* const next = next_for(place)) {
        const auto granted = queue_.remove(*next);
        has_held_up_others |= !granted->is_pipelinable;
        granted->holder->on_granted(*granted, &place, context_.now());
    }
    placement_.refresh(place);
    if (has_held_up_others) {
        serve_all();
    }
}

void waiting_room::serve_all() {
    for (auto [next, free] = next_with_place(); free != nullptr; std::tie(next, free) = next_with_place()) {
        const auto granted = queue_.remove(*next);
        granted->holder->on_granted(*granted, free, context_.now());
    }
    const auto slots = queue_.size() > queue_.common_size() ? placement_.slots() : 0;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        auto* const place = queue_.first_bound_to(slot) != nullptr ? placement_.in_slot(slot) : nullptr;
        if (place != nullptr) {
            serve(*place);
        }
    }
}

/// Returns the first claim that the place has room for, or null. At a free place, calls may overtake a claim
/// whose batch is to grow for longer than a moment. A busy worker would never be free for that claim.
claim* waiting_room::next_for(const worker& place) {
    auto* const first = queue_.empty() ? nullptr : queue_.next_for(place.id().slot);
    if (first == nullptr || !placement::has_room(place, *first)) {
        return nullptr;
    }
    if (!batches_.is_held(*first, place)) {
        return first;
    }
    return place.calls().accepts_call() ? next_behind_held(place) : nullptr;
}

claim* waiting_room::next_behind_held(const worker& place) {
    const auto may_go = [&](claim& each) {
        return !batches_.is_gathering() && may_overtake(each) && placement::has_room(place, each) &&
               !batches_.is_held(each, place);
    };
    auto* const bound = queue_.first_bound_to(place.id().slot);
    if (bound != nullptr && may_go(*bound) && !follows_unbound(*bound)) {
        return bound;
    }
    auto patience = most_passed_over;
    claim* next = nullptr;
    queue_.find_unbound([&](claim& each) {
        next = may_go(each) ? &each : nullptr;
        return next != nullptr || --patience == 0;
    });
    return next;
}

/// Returns true if an older unbound call has the session of the claim: it was made when the session had no
/// worker. While such calls of any session wait behind many others, returns true as well.
bool waiting_room::follows_unbound(claim& bound_claim) {
    const auto* const subject = bound_claim.as_call();
    if (subject == nullptr || !subject->has_session() || queue_.unbound_of_sessions() == 0) {
        return false;
    }
    auto patience = most_passed_over;
    const auto* const found = queue_.find_unbound([&](claim& each) {
        const auto* const other = each.as_call();
        const bool is_of_session = other != nullptr && other->req.session() == subject->req.session();
        return is_of_session || --patience == 0;
    });
    return found != nullptr && found->order < bound_claim.order;
}

bool waiting_room::is_next_for(const worker& place, claim& claimant) {
    const auto slot = place.id().slot;
    return queue_.is_next_for(slot, claimant) ||
           (claimant.as_call() != nullptr && !queue_.has_older_for(slot, claimant) && is_first_held(place) &&
            !follows_unbound(claimant));
}

/// Returns true if the first unbound claim waits for its batch to grow: the place would have room for it.
bool waiting_room::is_first_held(const worker& place) {
    const bool may_be = batches_.is_holding() && !batches_.is_gathering() && !queue_.is_common_empty();
    auto* const first = may_be ? queue_.front().as_call() : nullptr;
    return first != nullptr && place.calls().accepts_call() && batches_.is_batched(*first, place);
}

/// Returns the first unbound claim that has a place, and that place, likewise; or two null pointers.
std::pair<claim*, worker*> waiting_room::next_with_place() {
    auto* const first = queue_.is_common_empty() ? nullptr : &queue_.front();
    auto* const place = first == nullptr ? nullptr : placement_.pick(*first);
    if (place == nullptr) {
        return {};
    }
    if (!batches_.is_held(*first, *place)) {
        return {first, place};
    }
    auto* const next = place->calls().accepts_call() ? next_behind_held(*place) : nullptr;
    return {next, next == nullptr ? nullptr : place};
}

std::vector<call_ptr> waiting_room::leave_with(const call& first, const worker& place) {
    std::vector<call_ptr> companions;
    if (auto* const lease = lease_of(first)) {
        const bool is_one = first.has_session(); // each call of a session asks whether it may use the lease
        const auto most = is_one ? 1 : place.calls().batches_of(first.req.command()).most;
        while (companions.size() + 1 < most && !lease->waiting.empty() &&
               batch_maker::may_go_together(first, lease->waiting.front())) {
            companions.push_back(next_of(*lease));
        }
        return companions;
    }
    companions = batches_.companions(first, place);
    for (const auto& each : companions) {
        queue_.remove(*each);
    }
    return companions;
}

/// A claim for a whole worker may wait while a call has room, and so may a claim that cannot be pipelined:
/// new claims do not overtake either.
worker* waiting_room::place_for(const claim& new_claim) {
    const bool is_first = queue_.is_common_empty();
    const bool has_to_wait = !is_first && queue_.front().wants_whole_worker;
    return has_to_wait ? nullptr : placement_.pick(new_claim, is_first);
}

claim_ptr waiting_room::close_first() noexcept {
    const claim_ptr first(open_.empty() ? nullptr : &open_.front());
    if (first) {
        close(*first);
    }
    return first;
}

void waiting_room::clear() noexcept {
    queue_.clear();
    leases_.clear();
    waiting_for_leases_ = 0;
}

void waiting_room::join(call& waiting_call, lease_claim& lease) {
    lease.waiting.push_back(&waiting_call);
    ++waiting_for_leases_;
}

call_ptr waiting_room::next_of(lease_claim& lease) {
    --waiting_for_leases_;
    return lease.waiting.pop_front();
}

void waiting_room::leave(call& waiting_call) noexcept {
    if (auto* const lease = lease_of(waiting_call)) {
        --waiting_for_leases_;
        lease->waiting.remove(waiting_call);
    } else {
        queue_.remove(waiting_call);
        waiting_call.slot.reset();
    }
}

} // namespace skep

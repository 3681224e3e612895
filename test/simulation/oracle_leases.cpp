// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Leases: whose worker is nobody else's, until it is reset; and whose calls go nowhere else.

#include "core/clock.hpp"
#include "simulation/oracle.hpp"

#include <algorithm>

namespace skep::simulation {

namespace {

bool is_at_worker(const visit& stay) {
    return !stay.delivered;
}

/// Places that these calls take.
template <class Predicate>
std::size_t places_at(const sim_worker& at, Predicate is_counted) {
    std::set<std::uint64_t> places;
    for (const auto& [call, index] : at.calls()) {
        const auto& stay = call->visits[index];
        if (is_at_worker(stay) && is_counted(*call)) {
            places.insert(stay.place);
        }
    }
    return places.size();
}

} // namespace

lease_record& oracle::new_lease() {
    const spared_by_faults here;
    auto& fresh = leases_.emplace_back();
    fresh.token = "l" + std::to_string(leases_.size());
    return fresh;
}

std::string oracle::about(const lease_record& lease) {
    return "lease " + lease.token + (lease.wants_one_place ? " (of a place)" : "");
}

void oracle::on_checkout(lease_record& lease) {
    const spared_by_faults here;
    world_.trace(lease.token + " is to be checked out" +
                 (lease.session.empty()
                      ? ""
                      : ", for " + std::string(lease.insists() ? "only " : "") + lease.session));
    lease.asked = true;
    if (!lease.session.empty()) {
        sessions_[lease.session].is_bound_by_others = true;
    }
    lease.submitted = world_.now();
}

void oracle::on_granted(lease_record& lease) {
    const spared_by_faults here;
    world_.trace(lease.token + " is granted: " + to_string(lease.held.worker()));
    lease.told = world_.now();
    auto* const home = find(lease.held.worker());
    if (home == nullptr || !home->ready_seen) {
        wrong(about(lease) + " is of a worker that does not serve");
        return;
    }
    const bool may_be_unseen = home->has_had_backlog() || home->is_lost();
    for (const auto& [call, index] : home->calls()) {
        const bool is_of_other = call->lease != &lease && is_at_worker(call->visits[index]);
        if (!lease.wants_one_place && is_of_other && !may_be_unseen) {
            wrong(about(lease) + " is granted, though " + home->name() + " is at " + about(*call));
        }
    }
    if (places_kept(*home) + places_of(lease, *home) > home->capacity() && !may_be_unseen) {
        wrong(about(lease) + " is granted, though " + home->name() + " is leased");
    }
    check_wish(lease, *home);
    lease.home = home;
}

void oracle::on_given_back(lease_record& lease) {
    const spared_by_faults here;
    world_.trace(lease.token + " is given back");
    lease.is_given_back = true;
}

void oracle::on_checkout_failed(lease_record& lease, const error* failure) {
    const spared_by_faults here;
    lease.has_failed = true;
    lease.told = world_.now();
    world_.trace(lease.token +
                 " ends with: " + (failure == nullptr ? "a foreign exception" : failure->what()));
    if (failure == nullptr || out_of_memory()) {
        return;
    }
    const bool time_passed = world_.now() >= after_limit(lease.submitted, lease.queue_timeout);
    bool is_possible = false;
    switch (failure->kind()) {
    case errc::cancelled: is_possible = lease.cancelled.has_value(); break;
    case errc::queue_timeout:
    case errc::no_worker: is_possible = time_passed; break;
    case errc::pool_saturated: is_possible = failure->info().queue_depth >= config_.queue.limit; break;
    case errc::not_started: is_possible = !running_ && !start_failed_; break;
    case errc::start_failed:
        is_possible = may_have_failed_to_start();
        check_start_failure(about(lease), *failure);
        break;
    case errc::shutting_down: is_possible = shutting_down_; break;
    case errc::unavailable: is_possible = may_be_unavailable(); break;
    case errc::worker_busy: is_possible = lease.mode == affinity_mode::strict_fail_fast; break;
    case errc::unknown_worker: is_possible = lease.insists() && is_wish_gone(lease); break;
    case errc::session_worker_unavailable: is_possible = lease.insists() && !lease.session.empty(); break;
    case errc::session_quota_exceeded:
        is_possible =
            lease.insists() && sessions_besides(lease.session, lease.submitted) >= config_.affinity.limit;
        break;
    default: break;
    }
    if (!is_possible) {
        wrong(about(lease) + " ended with '" + failure->what() + "', which cannot be");
    }
}

bool oracle::is_wish_gone(const lease_record& lease) const {
    const auto* const home = lease.wish ? find(*lease.wish) : nullptr;
    return lease.wish && (home == nullptr || !is_surely_serving(*home));
}

std::size_t oracle::places_of(const lease_record& lease, const sim_worker& home) {
    return lease.wants_one_place ? 1 : home.capacity();
}

std::size_t oracle::calls_at_worker(const lease_record& lease) {
    return places_at(*lease.home, [&](const call_record& each) { return each.lease == &lease; });
}

/// Whether its worker is still for its calls, the last of which is its reset.
bool oracle::is_kept(const lease_record& lease) {
    if (lease.home == nullptr) {
        return false;
    }
    const bool is_reset_to_come = lease.reset != nullptr && lease.reset->visits.empty();
    return !lease.is_given_back || is_reset_to_come || calls_at_worker(lease) > 0;
}

std::size_t oracle::places_kept(const sim_worker& at) const {
    std::size_t result = 0;
    for (const auto& each : leases_) {
        result += each.home == &at && is_kept(each) ? places_of(each, at) : 0;
    }
    return result;
}

/// Calls that are in no places of leases.
std::size_t oracle::common_load(const sim_worker& at) {
    return places_at(at,
                     [](const call_record& each) { return each.lease == nullptr || !is_kept(*each.lease); });
}

/// Those in places of leases.
std::size_t oracle::leased_load(const sim_worker& at) const {
    std::size_t result = 0;
    for (const auto& each : leases_) {
        result += each.home == &at && is_kept(each) ? calls_at_worker(each) : 0;
    }
    return result;
}

/// What a lease keeps is taken by its own calls, and these by no other.
void oracle::check_places(const call_record& call, const sim_worker& to) {
    if (leases_.empty() || to.has_had_backlog() || out_of_memory()) {
        return;
    }
    const auto* const mine = call.lease;
    if (mine != nullptr) {
        if (mine->home != &to) {
            wrong(about(call) + " was sent to " + to.name() + ", which its lease is not of");
        } else if (calls_at_worker(*mine) >= places_of(*mine, to)) {
            wrong(about(call) + " was sent beyond the places of its lease");
        }
        if (&call == mine->reset && (!mine->is_given_back || calls_at_worker(*mine) > 0)) {
            wrong(to.name() + " is reset before " + about(*mine) + " is over");
        }
        return;
    }
    const auto kept = places_kept(to);
    if (kept > 0 && common_load(to) + kept >= to.capacity()) {
        wrong(about(call) + " was sent to " + to.name() + ", whose places are leased");
    }
}

/// A checkout that waits for the whole of one worker is not overtaken there.
void oracle::check_checkouts_before(const call_record& call, const sim_worker& to) {
    if (call.lease != nullptr || shutting_down_ || out_of_memory()) {
        return;
    }
    for (const auto& each : leases_) {
        const bool is_over =
            each.cancelled || world_.now() >= after_limit(each.submitted, each.queue_timeout);
        const bool waits_for_it =
            each.waits() && !is_over && each.insists() && !each.wants_one_place && each.wish == to.id();
        if (waits_for_it && each.submitted < call.submitted) {
            wrong(about(call) + " was sent to " + to.name() + ", which " + about(each) + " waits for");
        }
    }
}

/// A worker that is leased is left alone, unless something is wrong with it.
void oracle::check_left_alone(const sim_worker& stopped, std::string_view how) {
    const bool is_leased = std::any_of(leases_.begin(), leases_.end(), [&](const auto& each) {
        return each.home == &stopped && each.is_held();
    });
    if (is_leased && is_well(stopped)) {
        wrong(stopped.name() + " is leased, but was " + std::string(how));
    }
}

/// Nothing can have made the pool end the worker, but its work being done.
bool oracle::is_well(const sim_worker& which) const {
    const bool is_pool_well =
        running_ && !shutting_down_ && !start_failed_ && !resized_ && !late() && !out_of_memory();
    const bool may_be_unwell = which.did_wrong || which.exited || may_have_been_overdue(which) ||
                               was_sick(which) || which.plan().has_probe ||
                               config_.health_check.error_streak > 0 || config_.recycle.hard_memory > 0;
    return is_pool_well && !may_be_unwell;
}

void oracle::check_lost_with_lease(const call_record& call) {
    const auto* const home = call.lease->home;
    if (home != nullptr && is_well(*home) && !home->is_lost() && home->stopped_at_step == 0) {
        wrong(about(call) + " was lost, though the worker of its lease is well");
    }
}

/// Whether so many calls of its lease may wait for each other that it is refused.
bool oracle::may_be_beyond_limit(const call_record& refused) const {
    const auto open = std::count_if(open_.begin(), open_.end(), [&](auto number) {
        const auto& each = calls_[number - 1];
        return each.lease == refused.lease && &each != &refused;
    });
    return static_cast<std::size_t>(open) >= config_.queue.limit;
}

/// Whether its own caller is at a call of the same lease.
bool oracle::is_nested_in_lease(const call_record& call) {
    for (const auto* outer = call.outer; outer != nullptr; outer = outer->outer) {
        if (call.lease != nullptr && outer->lease == call.lease) {
            return true;
        }
    }
    return false;
}

std::size_t oracle::open_checkouts() const {
    return static_cast<std::size_t>(
        std::count_if(leases_.begin(), leases_.end(), [](const auto& each) { return each.waits(); }));
}

bool oracle::is_any_leased() const {
    return std::any_of(leases_.begin(), leases_.end(),
                       [](const auto& each) { return each.waits() || is_kept(each); });
}

/// At most: the pool may not have come to it, or its frame may not have been sent whole.
std::size_t oracle::resets_begun() const {
    return static_cast<std::size_t>(std::count_if(leases_.begin(), leases_.end(), [](const auto& each) {
        return each.reset != nullptr && each.is_given_back;
    }));
}

/// At rest.
void oracle::check_leases() {
    if (out_of_memory()) {
        return;
    }
    for (const auto& each : leases_) {
        if (!each.waits()) {
            continue;
        }
        if (each.cancelled) {
            wrong(about(each) + " still waits for a worker, though it was cancelled");
        }
        if (!world_.is_in_time(after_limit(each.submitted, each.queue_timeout), world_.now())) {
            wrong(about(each) + " still waits for a worker, though its queue timeout has passed");
        }
    }
}

void oracle::check_leased_call(const call_record& call) {
    const auto& lease = *call.lease;
    if (lease.is_given_back) {
        wrong(about(call) + " has not ended, though " + about(lease) + " was given back");
    }
    if (lease.home != nullptr && lease.home->start_returned && !lease.home->is_held_by_pool()) {
        wrong(about(call) + " has not ended, though the worker of its lease is gone");
    }
}

/// What the pool says of leases, and that nobody waits for a place that nobody has.
void oracle::check_leases(const pool_status& status) {
    if (leases_.empty() || out_of_memory()) {
        return;
    }
    const auto asked =
        std::count_if(leases_.begin(), leases_.end(), [](const auto& each) { return each.asked; });
    if (status.leases > static_cast<std::size_t>(asked)) {
        wrong("the pool knows of " + std::to_string(status.leases) + " leases");
    }
    for (const auto& shown : status.workers) {
        const auto* const real = find(shown.id);
        const bool takes_calls = (shown.state == worker_state::ready || shown.state == worker_state::busy) &&
                                 !shown.retiring && shown.health == worker_health::healthy;
        const bool may_be_doubted =
            real != nullptr &&
            (may_await_probe(*real) || suspended_.contains(shown.id) || pool_suspension_asked_);
        if (real != nullptr && takes_calls && !may_be_doubted && !real->is_lost() &&
            !real->has_had_backlog()) {
            check_leases_of(*real, shown);
        }
    }
}

void oracle::check_leases_of(const sim_worker& real, const worker_status& shown) {
    std::size_t held = 0;
    for (const auto& each : leases_) {
        held += each.home == &real && each.is_held() ? places_of(each, real) : 0;
    }
    if (shown.leased < held) {
        wrong(real.name() + " is leased, but the pool does not know");
    }
    if (shown.leased > held && shown.load == 0) {
        wrong(real.name() + " is held by nobody, but kept from others");
    }
    for (const auto number : open_) {
        const auto& call = calls_[number - 1];
        const bool waits = call.is_open() && call.visits.empty() && call.lease != nullptr;
        const bool has_room = shown.load < shown.capacity; // else it may be probed
        if (waits && has_room && call.lease->home == &real && call.lease->is_held() &&
            calls_at_worker(*call.lease) < places_of(*call.lease, real)) {
            wrong(about(call) + " waits, though its lease has a place free");
        }
    }
}

} // namespace skep::simulation

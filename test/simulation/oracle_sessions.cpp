// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls of sessions: which worker they go to, in which order, and when they may be refused.

#include "core/clock.hpp"
#include "simulation/oracle.hpp"

#include <algorithm>

namespace skep::simulation {

void oracle::use_store(const session_options& options) {
    store_.emplace(world_, options, [this](const std::string& session) { return last_use_of(session); });
}

/// By a call, a binding or a checkout; at the latest.
time_point oracle::last_use_of(const std::string& session) const {
    time_point last;
    for (const auto& each : calls_) {
        if (each.begun && each.session == session) {
            last = std::max(last, each.completed.value_or(world_.now()));
        }
    }
    for (const auto& each : leases_) {
        if (each.asked && each.session == session) {
            last = std::max(last, each.told.value_or(world_.now()));
        }
    }
    const auto found = sessions_.find(session);
    return found == sessions_.end() ? last : std::max(last, found->second.bound);
}

void oracle::on_forget_asked(const std::string& session) {
    sessions_[session].forgotten = world_.now();
}

void oracle::on_bind_asked(const std::string& session) {
    auto& known = sessions_[session];
    known.is_bound_by_others = true;
    known.bound = world_.now();
    known.forgotten = world_.now(); // the session goes to another worker, or to the same
}

void oracle::on_bound(const std::string& session, const worker_id& to, time_point asked,
                      const std::optional<errc>& refusal) {
    const spared_by_faults here;
    world_.trace(session + " is bound to " + to_string(to) +
                 (refusal ? ": " + make_error_code(*refusal).message() : ""));
    on_bind_asked(session);
    const auto* const home = find(to);
    const bool is_up = home != nullptr && is_surely_serving(*home) && *home->ready_seen < asked;
    bool is_possible = !refusal;
    switch (refusal.value_or(errc())) {
    case errc::unknown_worker: is_possible = !is_up; break;
    case errc::session_quota_exceeded:
        is_possible = sessions_in_use() >= config_.affinity.limit; // this one included: it counts already
        break;
    case errc::not_started:
    case errc::start_failed: is_possible = !running_ || start_failed_ || *running_since_ >= asked; break;
    case errc::shutting_down: is_possible = shutting_down_; break;
    default: break;
    }
    if (!is_possible && !out_of_memory()) {
        wrong("the binding of " + session + " to " + to_string(to) + " was refused");
    }
    if (!refusal && home == nullptr) {
        wrong(session + " is bound to " + to_string(to) + ", which there never was");
    }
}

void oracle::on_session_shown(const std::string& session, const std::optional<session_binding>& shown) {
    const auto* const home = shown ? find(shown->worker) : nullptr;
    if (!shown) {
        return;
    }
    if (home == nullptr) {
        wrong(session + " is shown at " + to_string(shown->worker) + ", which there never was");
    } else if (shown->is_lost && is_surely_serving(*home)) {
        wrong(session + " is shown as lost with " + home->name() + ", which serves");
    } else if (!shown->is_lost && !shown->state) {
        wrong(session + " is shown at " + home->name() + ", which has no state");
    }
}

/// A checkout that insists on a worker gets no other.
void oracle::check_wish(const lease_record& lease, const sim_worker& home) {
    if (!lease.insists()) {
        return;
    }
    if (lease.wish && find(*lease.wish) != &home) {
        wrong(about(lease) + " is granted " + home.name() + ", and insists on " + to_string(*lease.wish));
    }
    const auto found = sessions_.find(lease.session);
    if (lease.session.empty() || found == sessions_.end() || found->second.home == nullptr) {
        return;
    }
    const auto& known = found->second;
    const bool was_known_before = known.home_since < lease.submitted;
    if (was_known_before && known.home != &home && !may_be_anew(lease.session, lease.submitted, known) &&
        !home.has_had_backlog() && !out_of_memory()) {
        wrong(about(lease) + " is granted " + home.name() + ", though " + known.home->name() +
              " serves its session");
    }
}

/// A strict call goes to the worker of its session, and after those that were made before it.
void oracle::check_session(const call_record& call, sim_worker& to) {
    if (store_ && !call.session.empty()) {
        store_->on_call_sent(call.session, call.submitted);
    }
    if (!call.is_strict()) {
        const auto found = sessions_.find(call.session);
        const auto now = world_.now(); // until then the call was no use of the session
        if (found != sessions_.end() && may_be_anew(call.session, now, found->second, &call)) {
            found->second.home = nullptr; // the session may be this worker's now
        }
        return;
    }
    auto& known = sessions_[call.session];
    const bool may_be_unseen = to.has_had_backlog() || out_of_memory();
    if (known.home != nullptr && known.home != &to && !may_be_unseen && !may_be_anew(call, known)) {
        wrong(about(call) + " was sent to " + to.name() + ", though " + known.home->name() +
              " serves its session");
    }
    if (known.home != nullptr && known.home != &to && known.home->is_lost()) {
        known.lost_home = world_.now();
    }
    for (const auto number : open_) {
        const auto& other = calls_[number - 1];
        const bool is_before = other.session == call.session && other.submitted < call.submitted &&
                               other.lease == nullptr && call.lease == nullptr;
        const auto longest = std::min(other.deadline(), after_limit(other.submitted, other.queue_timeout));
        const bool may_have_ended = // and its caller has not heard of it
            longest <= world_.now() || known.lost_home == world_.now();
        if (is_before && !may_have_ended && other.mode == affinity_mode::strict_queue &&
            other.visits.empty() && other.is_open() && !other.cancelled && !may_be_at_lost(other) &&
            !may_be_unseen) {
            wrong(about(call) + " has overtaken " + about(other) + " of the same session");
        }
    }
    const bool is_still_home = known.home == &to && !may_be_anew(call, known);
    known.home_since = is_still_home ? known.home_since : world_.now();
    known.home = &to;
    known.used = call.submitted; // at the earliest: its frame may have taken its time
}

/// Whether the session's call may go to any worker.
bool oracle::may_be_anew(const call_record& call, const session_record& known) const {
    return may_be_anew(call.session, call.submitted, known, &call);
}

/// `call`: that is not counted itself.
bool oracle::may_be_anew(const std::string& session, time_point submitted, const session_record& known,
                         const call_record* call) const {
    const bool may_have_moved =
        config_.affinity.on_recycle == affinity_on_recycle::move && may_stop_workers();
    const bool is_forgotten = known.forgotten && *known.forgotten >= known.used;
    const bool may_have_expired = store_ && store_->may_have_expired(session, known.used);
    return may_have_moved || is_forgotten || may_have_expired ||
           has_expired_by(session, submitted, known, call) || late();
}

/// Whether no other call had to do with the session, as it is known, for its ttl before then. A call with a
/// hint that another worker has, or that was sent before the worker was known to serve the session, may
/// belong to what the session was before, or to none that was remembered.
bool oracle::has_expired_by(const std::string& session, time_point submitted, const session_record& known,
                            const call_record* call) const {
    const auto is_at_home = [&](const visit& stay) {
        return stay.at == known.home && stay.sent >= known.home_since;
    };
    return std::none_of(calls_.begin(), calls_.end(), [&](const auto& each) {
        const bool is_use =
            each.is_strict() || std::any_of(each.visits.begin(), each.visits.end(), is_at_home);
        const bool was_sent = each.session == session && &each != call && !each.visits.empty() && is_use;
        return was_sent &&
               (is_in_use_by(each) || after_limit(*each.completed, config_.affinity.ttl) >= submitted);
    });
}

/// Whether its caller waits, or the worker is still at it though nobody does.
bool oracle::is_in_use_by(const call_record& call) {
    const auto is_at_it = [](const visit& stay) {
        return !stay.delivered && !stay.at->is_lost() && !stay.at->has_had_backlog();
    };
    return !call.completed || std::any_of(call.visits.begin(), call.visits.end(), is_at_it);
}

/// That the pool may have to remember: strict ones, and those of calls that were open at the time, or that a
/// worker may still be at.
std::size_t oracle::sessions_besides(const std::string& session, time_point submitted) const {
    const auto may_be_at_it = [](const visit& stay) { return !stay.delivered && !stay.at->exited; };
    std::set<std::string> names;
    for (const auto& each : calls_) {
        const bool counts = each.is_strict() || !each.completed || *each.completed >= submitted ||
                            std::any_of(each.visits.begin(), each.visits.end(), may_be_at_it);
        if (each.begun && !each.session.empty() && each.session != session && counts) {
            names.insert(each.session);
        }
    }
    for (const auto& [name, known] : sessions_) {
        if (known.is_bound_by_others && name != session) {
            names.insert(name);
        }
    }
    return names.size();
}

/// Whether nothing can have taken the worker out of service.
bool oracle::is_surely_serving(const sim_worker& which) const {
    return which.ready_seen && which.is_alive() && !which.did_wrong && !which.is_lost() &&
           which.is_held_by_pool() && which.stopped_at_step == 0 && !may_stop_workers() &&
           !may_have_been_overdue(which) && !was_sick(which) && !which.plan().has_probe && !late();
}

void oracle::check_lost_to_session(const call_record& call) {
    const auto found = sessions_.find(call.session);
    const auto* const home = found == sessions_.end() ? nullptr : found->second.home;
    const bool may_be_bound_elsewhere =
        home != nullptr && found->second.is_bound_by_others && may_be_anew(call, found->second);
    const bool is_foreign_lease = call.lease != nullptr && call.mode == affinity_mode::strict_queue &&
                                  (home == nullptr || home != call.lease->home || may_be_bound_elsewhere);
    if (is_foreign_lease && call.visits.empty()) {
        return; // that worker may live
    }
    const bool is_there = home != nullptr && is_surely_serving(*home) &&
                          !may_be_anew(call, found->second); // its frame may be on the way to another
    const bool is_any_gone = std::any_of(workers_.begin(), workers_.end(),
                                         [this](const auto& each) { return !is_surely_serving(*each); });
    if ((!call.is_strict() || is_there || !is_any_gone) && !out_of_memory()) {
        wrong(about(call) + " was told that the worker of its session is gone");
    }
    if (call.visits.empty() && is_of_forgotten(call) && !may_be_at_lost(call) && !out_of_memory()) {
        wrong(about(call) + " was told that the worker of its session is gone, which was forgotten");
    }
    if (!call.visits.empty() && call.visits.back().begun && !out_of_memory()) {
        wrong(about(call) + " was lost with the worker of its session, and is told that it never came to it");
    }
}

/// Whether its session was forgotten, and nobody else has used it since.
bool oracle::is_of_forgotten(const call_record& call) const {
    const auto found = sessions_.find(call.session);
    if (found == sessions_.end() || !found->second.forgotten || *found->second.forgotten >= call.submitted ||
        found->second.is_bound_by_others) {
        return false;
    }
    return std::none_of(calls_.begin(), calls_.end(), [&](const auto& each) {
        const bool may_have_used = !each.completed || *each.completed >= *found->second.forgotten;
        return &each != &call && each.begun && each.session == call.session && may_have_used;
    });
}

/// At rest, of an open call that no worker has seen. One that was made before its session had a worker may
/// wait for any.
void oracle::check_wait_for_home(const call_record& call) {
    if (call.lease != nullptr) {
        return; // it waits for its lease
    }
    const auto found = sessions_.find(call.session);
    const auto* const home = found == sessions_.end() ? nullptr : found->second.home;
    if (home != nullptr && call.submitted > found->second.home_since && !home->is_held_by_pool() &&
        !may_be_anew(call, found->second)) {
        wrong(about(call) + " waits for " + home->name() + ", which is gone");
    }
}

void oracle::check_session_order(const pool_status& status) {
    if (status.sessions > std::min(sessions_in_use(), config_.affinity.limit)) {
        wrong("the pool knows of " + std::to_string(status.sessions) + " sessions");
    }
    std::size_t at_workers = 0;
    for (const auto& shown : status.workers) {
        at_workers += shown.sessions;
        if (shown.strict_sessions > shown.sessions) {
            wrong(to_string(shown.id) + " has more strict sessions than sessions");
        }
    }
    if (at_workers > status.sessions) {
        wrong("the workers serve " + std::to_string(at_workers) + " sessions, and the pool knows of " +
              std::to_string(status.sessions));
    }
    for (const auto number : open_) {
        const auto& call = calls_[number - 1];
        const auto found = sessions_.find(call.session);
        if (!call.is_open() || !call.is_strict() || !call.visits.empty() || found == sessions_.end() ||
            call.lease != nullptr || may_be_at_lost(call) || may_be_anew(call, found->second)) {
            continue;
        }
        const auto* const home = found->second.home;
        const auto is_its = [&](const auto& shown) { return home != nullptr && find(shown.id) == home; };
        const auto shown = std::find_if(status.workers.begin(), status.workers.end(), is_its);
        if (shown != status.workers.end() && shown->state == worker_state::ready && shown->load == 0 &&
            shown->leased == 0 && !shown->retiring && is_surely_serving(*home) && suspended_.empty()) {
            wrong(about(call) + " waits, though " + home->name() + ", which serves its session, is free");
        }
    }
}

std::size_t oracle::sessions_in_use() const {
    std::set<std::string> names;
    for (const auto& each : calls_) {
        if (each.begun && !each.session.empty()) {
            names.insert(each.session);
        }
    }
    for (const auto& [name, known] : sessions_) {
        if (known.is_bound_by_others) {
            names.insert(name);
        }
    }
    return names.size();
}

} // namespace skep::simulation

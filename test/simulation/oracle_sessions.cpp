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

/// By a call; at the latest.
time_point oracle::last_use_of(const std::string& session) const {
    time_point last;
    for (const auto& each : calls_) {
        if (each.begun && each.session == session) {
            last = std::max(last, each.completed.value_or(world_.now()));
        }
    }
    return last;
}

void oracle::on_forget_asked(const std::string& session) {
    sessions_[session].forgotten = world_.now();
}

/// A strict call goes to the worker of its session, and after those that were made before it.
void oracle::check_session(const call_record& call, sim_worker& to) {
    if (store_ && !call.session.empty()) {
        store_->on_call_sent(call.session, call.submitted);
    }
    if (!call.is_strict()) {
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
    const bool may_have_moved =
        config_.affinity.on_recycle == affinity_on_recycle::move && may_stop_workers();
    const bool is_forgotten = known.forgotten && *known.forgotten >= known.used;
    const bool may_have_expired = store_ && store_->may_have_expired(call.session, known.used);
    return may_have_moved || is_forgotten || may_have_expired || has_expired_for(call) || late();
}

/// Whether nothing had to do with the session for its ttl before the call was made.
bool oracle::has_expired_for(const call_record& call) const {
    return std::none_of(calls_.begin(), calls_.end(), [&](const auto& each) {
        const bool was_sent = each.session == call.session && &each != &call && !each.visits.empty();
        return was_sent &&
               (is_in_use_by(each) || after_limit(*each.completed, config_.affinity.ttl) >= call.submitted);
    });
}

/// Whether its caller waits, or the worker is still at it though nobody does.
bool oracle::is_in_use_by(const call_record& call) {
    const auto is_at_it = [](const visit& stay) {
        return !stay.delivered && !stay.at->is_lost() && !stay.at->has_had_backlog();
    };
    return !call.completed || std::any_of(call.visits.begin(), call.visits.end(), is_at_it);
}

/// That the pool may have to remember: strict ones, and those of calls that were open at the time, or that a worker may
/// still be at.
std::size_t oracle::sessions_besides(const call_record& refused) const {
    const auto may_be_at_it = [](const visit& stay) { return !stay.delivered && !stay.at->exited; };
    std::set<std::string> names;
    for (const auto& each : calls_) {
        const bool counts = each.is_strict() || !each.completed || *each.completed >= refused.submitted ||
                            std::any_of(each.visits.begin(), each.visits.end(), may_be_at_it);
        if (each.begun && !each.session.empty() && each.session != refused.session && counts) {
            names.insert(each.session);
        }
    }
    return names.size();
}

/// Whether nothing can have taken the worker out of service.
bool oracle::is_surely_serving(const sim_worker& which) const {
    return which.ready_seen && which.is_alive() && !which.did_wrong && !which.is_lost() &&
           which.is_held_by_pool() && which.stopped_at_step == 0 && !may_stop_workers() &&
           !was_overdue(which) && !was_sick(which) && !which.plan().has_probe && !which.has_had_backlog() &&
           !late();
}

void oracle::check_lost_to_session(const call_record& call) {
    const auto found = sessions_.find(call.session);
    const auto* const home = found == sessions_.end() ? nullptr : found->second.home;
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
    if (found == sessions_.end() || !found->second.forgotten || *found->second.forgotten >= call.submitted) {
        return false;
    }
    return std::none_of(calls_.begin(), calls_.end(), [&](const auto& each) {
        const bool may_have_used = !each.completed || *each.completed >= *found->second.forgotten;
        return &each != &call && each.begun && each.session == call.session && may_have_used;
    });
}

/// At rest, of an open call that no worker has seen. One that was made before its session had a worker may wait for any.
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
    for (const auto number : open_) {
        const auto& call = calls_[number - 1];
        const auto found = sessions_.find(call.session);
        if (!call.is_open() || !call.is_strict() || !call.visits.empty() || found == sessions_.end() ||
            call.lease != nullptr || may_be_at_lost(call)) {
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
    return names.size();
}

} // namespace skep::simulation

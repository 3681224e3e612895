// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/session_affinity.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <utility>

namespace skep {

namespace {

/// Dropped sessions per turn and list. Takes well below a millisecond.
constexpr int expired_per_turn = 1000;

bool moves_its_sessions(const worker& leaver, affinity_on_recycle rule) {
    const auto& why = leaver.life().departure(); // empty if the end was lost for lack of memory
    return why && why->planned && why->cause != departure_cause::shutdown &&
           rule == affinity_on_recycle::move;
}

} // namespace

session_affinity::home session_affinity::home_of(const std::string& session, time_point now) {
    const auto found = find(session, now);
    if (found == bonds_.end() || !found->second.server_sessions) {
        return {};
    }
    auto* const at = found->second.server_sessions->serving_worker;
    return {at, at == nullptr};
}

/// Finds a session. Drops a bond that has expired, or whose worker has left and passes its sessions on.
session_affinity::bonds::iterator session_affinity::find(const std::string& session, time_point now) {
    const auto found = bonds_.find(session);
    if (found == bonds_.end() || !found->second.server_sessions) {
        return found;
    }
    auto& known = found->second;
    auto* const at = known.server_sessions->serving_worker;
    if (at != nullptr && at->life().departure()) { // the pool has not been notified yet
        left(*at);
    }
    if (known.server_sessions->has_moved_on || (known.calls == 0 && has_expired(known, now))) {
        drop(found);
        return bonds_.find(session);
    }
    return found;
}

bool session_affinity::begin_use(const std::string& session, time_point now) {
    auto found = find(session, now);
    if (found == bonds_.end()) {
        if (bonds_.size() >= options_.limit && !make_room(now)) {
            return false;
        }
        found = bonds_.try_emplace(session).first;
        found->second.session = &found->first;
    } else if (found->second.calls == 0) {
        auto& list = idle(found->second);
        list.erase(list.iterator_to(found->second));
    }
    ++found->second.calls;
    return true;
}

void session_affinity::end_use(const std::string& session, time_point now) noexcept {
    const auto found = bonds_.find(session);
    auto& known = found->second;
    if (--known.calls > 0) {
        return;
    }
    if (!known.server_sessions) {
        bonds_.erase(found);
        return;
    }
    known.used = now;
    idle(known).push_back(known);
}

/// Drops an expired session or a hint, because callers do not rely on hints.
bool session_affinity::make_room(time_point now) {
    if (is_front_expired(idle_strict_, now)) {
        drop(idle_strict_.front());
    } else if (!idle_hints_.empty()) {
        drop(idle_hints_.front());
    } else {
        return false;
    }
    return true;
}

bool session_affinity::bind(const std::string& session, affinity_mode mode, worker& target) {
    const auto& serving = target.served();
    auto& bound = bonds_.find(session)->second;
    const bool has_changed = bound.server_sessions != serving;
    const bool is_strict = mode != affinity_mode::hint;
    if (has_changed && bound.is_strict && !is_strict && !bound.server_sessions->has_moved_on) {
        return false; // a single call goes elsewhere: a strictly bound session stays bound, or lost
    }
    if (has_changed) {
        detach(bound);
        bound.server_sessions = serving;
        ++bound_;
        ++serving->sessions;
    }
    if (!bound.is_strict && is_strict) {
        bound.is_strict = true;
        ++serving->bound;
    }
    return !has_changed;
}

std::optional<session_binding> session_affinity::binding_of(const std::string& session, time_point now) {
    const auto found = find(session, now);
    if (found == bonds_.end() || !found->second.server_sessions) {
        return std::nullopt;
    }
    const auto& known = found->second;
    session_binding result;
    result.worker.slot = known.server_sessions->slot;
    result.worker.generation = known.server_sessions->generation;
    result.is_strict = known.is_strict;
    result.is_lost = known.server_sessions->serving_worker == nullptr;
    result.calls = known.calls;
    result.idle = known.calls > 0 ? duration::zero() : duration(now - known.used);
    return result;
}

void session_affinity::left(const worker& leaver) {
    auto& served = *leaver.served();
    if (std::exchange(served.serving_worker, nullptr) != nullptr) {
        served.sessions = served.bound = 0;
        served.has_moved_on = moves_its_sessions(leaver, options_.on_recycle);
    }
}

bool session_affinity::is_unused(const std::string& session, time_point since) const {
    const auto found = bonds_.find(session);
    return found != bonds_.end() && found->second.used < since && found->second.calls == 0;
}

bool session_affinity::forget(const std::string& session) {
    const auto found = bonds_.find(session);
    if (found == bonds_.end() || !found->second.server_sessions) {
        return false;
    }
    drop(found);
    return true;
}

void session_affinity::drop_expired(time_point now) {
    for (auto* const list : {&idle_hints_, &idle_strict_}) {
        for (int i = 0; i < expired_per_turn && is_front_expired(*list, now); ++i) {
            drop(list->front());
        }
    }
}

time_point session_affinity::next_expiry() const noexcept {
    auto next = time_point::max();
    for (const auto* const list : {&idle_hints_, &idle_strict_}) {
        next = list->empty() ? next : std::min(next, after_limit(list->front().used, options_.ttl));
    }
    return next;
}

void session_affinity::release(bond& released_bond) noexcept {
    if (std::exchange(released_bond.is_strict, false) &&
        released_bond.server_sessions->serving_worker != nullptr) {
        --released_bond.server_sessions->bound;
    }
}

/// From now on no worker is known to serve the session.
void session_affinity::detach(bond& released_bond) noexcept {
    release(released_bond);
    if (!released_bond.server_sessions) {
        return;
    }
    if (released_bond.server_sessions->serving_worker != nullptr) {
        --released_bond.server_sessions->sessions;
    }
    released_bond.server_sessions.reset();
    --bound_;
}

/// A session in use stays known as such, without a worker: its next call may go to any worker.
void session_affinity::drop(bonds::iterator dropped_bond) noexcept {
    auto& bound = dropped_bond->second;
    if (bound.calls == 0) {
        auto& list = idle(bound);
        list.erase(list.iterator_to(bound));
    }
    detach(bound);
    if (bound.calls == 0) {
        bonds_.erase(dropped_bond);
    }
}

bool session_affinity::has_expired(const bond& subject, time_point now) const noexcept {
    return after_limit(subject.used, options_.ttl) < now;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/session_affinity.hpp"

#include "core/clock.hpp"

namespace skep {

namespace {

/// Takes well below a millisecond.
constexpr int expired_per_turn = 1000;

bool moves_its_sessions(const worker& gone, affinity_on_recycle rule) {
    const auto& why = gone.life().why_retired();
    const bool is_planned =
        why && (why->what == retirement::kind::recycle || why->what == retirement::kind::surplus);
    return is_planned && rule == affinity_on_recycle::move;
}

} // namespace

session_affinity::home session_affinity::home_of(const std::string& session, time_point now) {
    const auto found = bonds_.find(session);
    if (found == bonds_.end()) {
        return {};
    }
    const auto& known = found->second;
    auto* const at = known.to->at;
    if (at != nullptr && at->life().is(obstacle::leaving)) { // the pool will be told in a moment
        left(*at);
    }
    if (known.to->has_moved_on || (has_expired(known, now) && known.waiting == 0)) {
        drop(found);
        return {};
    }
    return {known.to->at, known.to->at == nullptr};
}

bool session_affinity::bind(const request& assigned, worker& to, time_point now) {
    const auto& serving = incarnation_of(to);
    const auto [found, is_new] = bonds_.try_emplace(assigned.session());
    auto& bound = found->second;
    if (is_new) {
        bound.session = &found->first;
        by_use_.push_back(bound);
    }
    use(bound, now);
    const bool has_changed = bound.to != serving;
    if (has_changed) {
        release(bound);
        bound.to = serving;
    }
    if (!bound.is_strict && mode_of(assigned) != affinity_mode::hint) {
        bound.is_strict = true;
        to.bind_session();
    }
    return !has_changed;
}

void session_affinity::begin_wait(const std::string& session) noexcept {
    const auto found = bonds_.find(session);
    if (found != bonds_.end()) {
        ++found->second.waiting;
    }
}

void session_affinity::end_wait(const std::string& session) noexcept {
    const auto found = bonds_.find(session);
    if (found != bonds_.end() &&
        found->second.waiting > 0) { // else its worker has moved on, and it began anew
        --found->second.waiting;
    }
}

void session_affinity::left(const worker& gone) {
    const auto found = serving_.find(&gone);
    if (found != serving_.end()) {
        found->second->at = nullptr;
        found->second->has_moved_on = moves_its_sessions(gone, options_.on_recycle);
        serving_.erase(found);
    }
}

bool session_affinity::is_unused(const std::string& session, time_point since) const {
    const auto found = bonds_.find(session);
    return found != bonds_.end() && found->second.used < since && found->second.waiting == 0;
}

bool session_affinity::forget(const std::string& session) {
    const auto found = bonds_.find(session);
    if (found == bonds_.end()) {
        return false;
    }
    drop(found);
    return true;
}

void session_affinity::drop_expired(time_point now) {
    for (int i = 0; i < expired_per_turn && !by_use_.empty() && has_expired(by_use_.front(), now); ++i) {
        auto& oldest = by_use_.front();
        oldest.waiting > 0 ? use(oldest, now) : drop(bonds_.find(*oldest.session));
    }
}

time_point session_affinity::next_expiry() const noexcept {
    return by_use_.empty() ? time_point::max() : after_limit(by_use_.front().used, options_.ttl);
}

const session_affinity::incarnation_ptr& session_affinity::incarnation_of(worker& serving) {
    auto& known = serving_[&serving];
    if (!known) {
        known = new incarnation;
        known->at = &serving;
    }
    return known;
}

void session_affinity::release(bond& loosened) noexcept {
    if (std::exchange(loosened.is_strict, false) && loosened.to->at != nullptr) {
        loosened.to->at->release_session();
    }
}

void session_affinity::drop(bonds::iterator dropped) {
    auto& bound = dropped->second;
    release(bound);
    by_use_.erase(by_use_.iterator_to(bound));
    bonds_.erase(dropped);
}

void session_affinity::use(bond& what, time_point now) noexcept {
    by_use_.splice(by_use_.end(), by_use_, by_use_.iterator_to(what));
    what.used = now;
}

bool session_affinity::has_expired(const bond& what, time_point now) const noexcept {
    return after_limit(what.used, options_.ttl) < now;
}

} // namespace skep

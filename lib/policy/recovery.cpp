// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/recovery.hpp"

namespace skep {

namespace {

/// Whether there is a worker yet, or still, that could be sick.
bool is_in_life(worker_state state) {
    using enum worker_state;
    return state != created && state != pending && state != stopping && !is_terminal(state);
}

/// Only what is in rotation, or was taken out of it by a probe, can be taken out.
recovery_action recover_from_probe(worker_state state, int failures, int limit) {
    if (failures >= limit) {
        return recovery_action::replace;
    }
    return is_running(state) ? recovery_action::degrade : recovery_action::none;
}

} // namespace

recovery_action recover_worker(failure_kind failure, worker_state state, int failures, int limit) noexcept {
    if (failure == failure_kind::process_exit || failure == failure_kind::start_failed) {
        return state == worker_state::stopping ? recovery_action::remove : recovery_action::replace;
    }
    if (!is_in_life(state)) {
        return recovery_action::none;
    }
    switch (failure) {
    case failure_kind::call_failed: return recovery_action::none;
    case failure_kind::error_streak: return recovery_action::probe;
    case failure_kind::fails_alone: return recovery_action::recycle;
    case failure_kind::probe_failed: return recover_from_probe(state, failures, limit);
    default: return recovery_action::replace;
    }
}

call_fate recover_call(const lost_call& call) noexcept {
    if (call.poisonous) {
        return call_fate::refuse;
    }
    if (!call.may_have_begun) {
        return call_fate::resend;
    }
    return call.idempotent && call.within_attempts && call.within_budget ? call_fate::retry : call_fate::fail;
}

} // namespace skep

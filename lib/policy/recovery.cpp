// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/recovery.hpp"

namespace skep {

namespace {

/// Returns true if the worker has started and is not yet leaving: only such a worker can be sick.
bool is_in_life(worker_state state) {
    using enum worker_state;
    return state != created && state != pending && state != stopping && !is_terminal(state);
}

/// Only a worker in rotation, or taken out by a probe, can be taken out.
recovery_action recover_from_probe(const failure& new_failure, worker_state state) {
    if (new_failure.count >= new_failure.limit) {
        return recovery_action::replace;
    }
    return is_running(state) ? recovery_action::degrade : recovery_action::none;
}

} // namespace

recovery_action recover_worker(const failure& new_failure, worker_state state) noexcept {
    if (!is_in_life(state)) {
        return recovery_action::none;
    }
    switch (new_failure.cause) {
    case departure_cause::error_streak: return recovery_action::probe;
    case departure_cause::fails_alone: return recovery_action::recycle;
    case departure_cause::failed_probes: return recover_from_probe(new_failure, state);
    case departure_cause::overdue_call: return recovery_action::replace;
    case departure_cause::memory_limit: return recovery_action::terminate;
    default: return recovery_action::abandon;
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

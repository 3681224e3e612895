// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/worker_state.hpp>

namespace skep {

/// What went wrong with a worker.
enum class failure_kind {
    process_exit,   ///< its process or a channel is gone
    protocol_error, ///< it broke the protocol
    heartbeat_lost, ///< it stopped answering pings
    start_failed,   ///< it did not come up
    probe_failed,   ///< it failed a health probe, or a call in a way that counts
    call_overdue,   ///< it is still at a call that was given up
    call_failed,    ///< its code raised an exception
    error_streak,   ///< it fails call after call, which may be its callers' doing
    fails_alone,    ///< it fails what its siblings answer
    too_much_memory ///< it is above the hard limit
};

/// What is to be done about it.
enum class recovery_action {
    none,
    degrade, ///< out of rotation; a probe decides
    remove,  ///< for good, without a replacement: it was on its way out
    replace, ///< for good, and another takes its place
    recycle, ///< the same, but the other one is to be ready first
    probe    ///< at once; what it finds decides
};

/// Seed 000's decision tree with its gaps closed: what is done with the worker.
/// `failures`: how many of the kind in a row, this one included; `limit`: how many remove it.
recovery_action recover_worker(failure_kind failure, worker_state state, int failures, int limit) noexcept;

/// What becomes of a call that was lost with its worker.
enum class call_fate {
    resend, ///< at once, elsewhere: it was never begun
    retry,  ///< after a wait, elsewhere
    fail,
    refuse ///< it is poison
};

struct lost_call {
    bool may_have_begun = true;
    bool idempotent = false;
    bool poisonous = false;
    bool within_attempts = true; ///< the retry policy allows another
    bool within_budget = true;   ///< so does the retry budget
};

/// Promise 2, and what keeps retries from doing harm.
call_fate recover_call(const lost_call& call) noexcept;

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/departure.hpp"
#include <skep/errc.hpp>
#include <skep/worker_state.hpp>

#include <string>

namespace skep {

/// One thing that went wrong with a worker.
struct failure {
    departure_cause cause;
    std::string detail;
    errc code = errc::worker_lost; ///< for who waits for the worker itself
    int count = 1;                 ///< of the cause in a row, this one included
    int limit = 1;                 ///< so many of a cause are too many
};

/// What is to be done about it.
enum class recovery_action {
    none,
    degrade,   ///< out of rotation; a probe decides
    probe,     ///< at once; what it finds decides
    recycle,   ///< another takes its place as soon as that is ready
    replace,   ///< no more calls; it ends when those it has are done, and another takes its place
    terminate, ///< likewise, but it ends at once, with its calls
    abandon    ///< nothing is to be expected of it any more: likewise, and its calls are lost now
};

/// What is done with a worker in `state`: the one place where that is decided, whatever went wrong.
recovery_action recover_worker(const failure& new_failure, worker_state state) noexcept;

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

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/departure.hpp"
#include <skep/errc.hpp>
#include <skep/worker_state.hpp>

#include <string>

namespace skep {

/// One failure of a worker.
struct failure {
    departure_cause cause;
    std::string detail;
    errc code = errc::worker_lost; ///< for callers that wait for the worker itself
    int count = 1;                 ///< failures of this cause in a row, including this failure
    int limit = 1;                 ///< the count at which the failures are too many
};

/// The reaction to a failure.
enum class recovery_action {
    none,
    degrade,   ///< takes the worker out of rotation; a probe decides
    probe,     ///< probes the worker at once; the result decides
    recycle,   ///< replaces the worker as soon as its replacement is ready
    replace,   ///< sends no more calls, ends the worker after its running calls, and replaces the worker
    terminate, ///< ends the worker and its calls at once, and replaces the worker
    abandon    ///< likewise; the worker is lost, and its calls end now
};

/// Returns the reaction for a worker in `state`. The only place that decides, for every kind of failure.
recovery_action recover_worker(const failure& new_failure, worker_state state) noexcept;

/// The next step for a call that was lost with its worker.
enum class call_fate {
    resend, ///< at once, to another worker: the call never began
    retry,  ///< after a wait, to another worker
    fail,
    refuse ///< the call is poison
};

struct lost_call {
    bool may_have_begun = true;
    bool idempotent = false;
    bool poisonous = false;
    bool within_attempts = true; ///< the retry policy allows another attempt
    bool within_budget = true;   ///< the retry budget allows another attempt
};

/// Keeps promise 2, and keeps retries from doing harm.
call_fate recover_call(const lost_call& call) noexcept;

} // namespace skep

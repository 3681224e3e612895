// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>

namespace skep {

/// The state of the worker that serves a session.
enum class session_home {
    none,     ///< the session has no worker yet, or no longer
    free,     ///< the worker has room for the call
    busy,     ///< the worker has no room
    lost,     ///< the worker ended, and its knowledge of the session is lost
    elsewhere ///< the call may only go to one worker, and the session has another
};

/// The destination of a call with a session.
enum class affinity_step {
    anywhere,
    go_home,
    wait_for_home,
    refuse_as_busy,
    refuse_as_lost,
    refuse_as_elsewhere, ///< the call may only go to another worker
    refuse_as_too_many   ///< the number of sessions is at its limit
};

constexpr bool is_refusal(affinity_step step) noexcept {
    return step >= affinity_step::refuse_as_busy;
}

constexpr affinity_step step_of(affinity_mode mode, session_home home) noexcept {
    const bool is_strict = mode != affinity_mode::hint;
    switch (home) {
    case session_home::free: return affinity_step::go_home;
    case session_home::lost: return is_strict ? affinity_step::refuse_as_lost : affinity_step::anywhere;
    case session_home::busy:
        if (is_strict) {
            return mode == affinity_mode::strict_queue ? affinity_step::wait_for_home
                                                       : affinity_step::refuse_as_busy;
        }
        break;
    case session_home::elsewhere:
        if (is_strict) {
            return mode == affinity_mode::strict_queue ? affinity_step::refuse_as_elsewhere
                                                       : affinity_step::refuse_as_busy;
        }
        break;
    case session_home::none: break;
    }
    return affinity_step::anywhere;
}

} // namespace skep

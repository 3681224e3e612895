// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace skep {

/// How a call of a session is bound to the worker that serves the session: the one that was assigned the session's last
/// call, whose memory may hold what was computed for it.
enum class affinity_mode {
    /// That worker if it has room, any other if it is busy or gone; the session is served by that one from then on, unless it
    /// is strictly bound.
    hint,

    /// That worker only: the call waits for it, and calls of others may overtake it. If the worker is gone, what it knew
    /// of the session is lost: the call ends with errc::session_worker_unavailable, or, if it may have begun there, with
    /// errc::worker_lost.
    strict_queue,

    /// That worker only, and at once: errc::worker_busy if it has no room; the rest as strict_queue.
    strict_fail_fast
};

/// What becomes of the sessions that are strictly bound to a worker which is to be recycled, restarted or scaled away.
enum class affinity_on_recycle {
    wait, ///< it goes on serving until none is left: they are forgotten, have not been used for affinity_options::ttl, or
          ///< have expired in pool_config::sessions
    move ///< their next calls go to any worker, as those of a new session: what they need is not in its memory alone
};

/// A session and its worker, as pool::session_worker() saw them.
struct session_binding {
    worker_id worker; ///< that serves the session, or has served it
    std::optional<worker_state>
        state;              ///< of that worker, as in worker_status; empty once the worker has ended
    bool is_strict = false; ///< strictly bound: a call with a hint does not take the session elsewhere
    bool is_lost =
        false; ///< the worker takes no more calls, and what it knew of the session is lost: strict calls fail
    std::size_t calls =
        0;           ///< of the session, that wait for the worker or run; leases of the session included
    duration idle{}; ///< since the last of these ended; 0 while there is one
};

/// Sessions and their workers: see request::session.
struct affinity_options {
    affinity_mode mode = affinity_mode::hint; ///< of requests that say nothing else

    /// How long it is known which worker serves a session, since the end of the session's last call, 1 ms..365 days. A
    /// session with a call that waits for its worker, or that the worker has, is in use and does not expire. One that
    /// expires in pool_config::sessions is forgotten earlier.
    duration ttl = std::chrono::hours(1);

    /// Sessions that the pool remembers, 1..10,000,000. For one more, the session with a hint goes that has not been used
    /// for longest. Where all are strictly bound or in use, a strict call of one more fails with
    /// errc::session_quota_exceeded, and a call with a hint goes to any worker and leaves no trace.
    std::size_t limit = 10'000;
    affinity_on_recycle on_recycle = affinity_on_recycle::wait; ///< of those that are strictly bound
};

} // namespace skep

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

/// How strictly a call of a session is bound to the session's worker. The session's worker is the last worker
/// that was assigned a call of the session; its memory may hold results of earlier calls.
enum class affinity_mode {
    /// Prefers the session's worker. If that worker is busy or gone, any other worker takes the call, and
    /// serves the session from then on, unless the session is strictly bound.
    hint,

    /// Waits for the session's worker. Other calls may overtake the call. If the worker is gone, its
    /// knowledge of the session is lost: the call ends with errc::session_worker_unavailable, or with
    /// errc::worker_lost if the call may have begun there.
    strict_queue,

    /// Like strict_queue, but fails with errc::worker_busy if the session's worker has no room.
    strict_fail_fast
};

/// Treatment of strictly bound sessions if their worker is to be recycled, restarted or scaled down.
enum class affinity_on_recycle {
    /// The worker goes on serving until it has no such session left. A session leaves when it is forgotten,
    /// has been unused for affinity_options::ttl, or has expired in pool_config::sessions.
    wait,

    /// The next calls of these sessions go to any worker, like the calls of new sessions. For sessions with
    /// state outside the worker's memory.
    move
};

/// A session and its worker: a snapshot by pool::session_worker().
struct session_binding {
    worker_id worker; ///< the worker that serves the session, or served it

    /// State of that worker, as in worker_status; empty once the worker has ended.
    std::optional<worker_state> state;
    bool is_strict = false; ///< strictly bound: a call with a hint does not move the session

    /// The worker takes no more calls, and its knowledge of the session is lost: strict calls fail.
    bool is_lost = false;
    std::size_t calls = 0; ///< calls and leases of the session that wait for the worker or run
    duration idle{};       ///< since the last of these ended; 0 while there is one
};

/// Binding of sessions to workers: see request::session.
///
/// In a remote_pool the workers are nodes, and other services may have bound the session to a node: the first
/// call of a session waits up to 50 ms for the answer of the node that has the session. Without an answer,
/// strict calls of all services that see the same nodes choose the same node. A node that drains counts as a
/// worker that is recycled, but its sessions are not waited for: with affinity_on_recycle::wait, they are
/// lost.
struct affinity_options {
    affinity_mode mode = affinity_mode::hint; ///< default for requests

    /// How long the pool remembers the worker of a session after the end of the session's last call, 1
    /// ms..365 days. A session is in use, and does not expire, while a call of the session waits for its
    /// worker or runs. A session that expires in pool_config::sessions is forgotten earlier.
    duration ttl = std::chrono::hours(1);

    /// Sessions that the pool remembers, 1..10,000,000. Beyond the limit the pool forgets the session with a
    /// hint that has been unused for longest. If all sessions are strictly bound or in use, a strict call of
    /// a new session fails with errc::session_quota_exceeded; a call with a hint goes to any worker, and its
    /// session is not remembered.
    std::size_t limit = 10'000;
    affinity_on_recycle on_recycle = affinity_on_recycle::wait; ///< treatment of strictly bound sessions
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <boost/system/error_code.hpp>

#include <string_view>
#include <type_traits>

namespace skep {

/// Error codes of the library. Each call ends with a reply or with exactly one of these codes.
enum class errc {
    invalid_config = 1, ///< a field of a configuration breaks its rule; the text names field, value and rule
    not_started,        ///< start() was not called, or has not completed for an operation that needs it
    already_started,    ///< start() was called twice
    shutting_down,      ///< the pool is shutting down or has shut down
    start_failed,       ///< too few workers came up, and no later start() did better; carries the last cause
    restart_failed,     ///< a new worker did not come up, and the old workers go on; carries the cause
    pool_saturated,     ///< the queue is full: the call was rejected at once
    queue_timeout,      ///< the call's wait for a worker expired; the text says if some workers take no calls
    no_worker, ///< the call's wait or timeout expired while no worker was up; carries the last start failure
    timeout,   ///< the timeout or deadline of the call passed, on either side; or a ping() got no answer
    cancelled, ///< the caller cancelled the operation
    worker_lost,        ///< the worker died, froze or broke the protocol while it had the call
    remote_error,       ///< the worker's code raised an exception: see error_info::remote_*
    unknown_command,    ///< the worker has no such command (the text lists them), or no health check to probe
    invalid_arguments,  ///< the command does not take these arguments; the text lists its parameters
    invalid_request,    ///< the request cannot be encoded, or has an option without effect; nothing was sent
    frame_too_large,    ///< the encoded request exceeds the frame limit; nothing was sent
    spawn_failed,       ///< the worker process could not be created; the text names the step and its cause
    startup_timeout,    ///< the worker did not complete its handshake in time
    handshake_failed,   ///< the worker exited or broke the protocol before it was ready
    heartbeat_lost,     ///< the worker stopped answering pings
    protocol_error,     ///< the worker broke the wire protocol
    illegal_transition, ///< a change of worker state that the lifecycle does not allow
    unavailable,        ///< too many workers failed recently and none is left; carries the last cause
    poisonous_request,  ///< rejected: workers crashed, broke the protocol or outgrew memory on this input
    unknown_worker,     ///< no worker of that id is alive
    initialization_failed, ///< a function of the initialization_delegate rejected the worker or the start
    tool_cycle,            ///< a tool's call needs a worker, but the workers wait for this very call
    type_mismatch, ///< a value does not fit the requested type: see value_as; the call itself has succeeded
    session_quota_exceeded, ///< as many sessions as session_options::quota or affinity_options::limit allows
    session_not_found,      ///< no session of that id exists, or it has expired
    invalid_session,        ///< the id or ttl of a session breaks its rule; the text names the rule
    session_backend_failed, ///< the storage of the sessions failed; the text names operation and cause
    worker_busy, ///< the worker of the session or checkout has no room, and the affinity allows no wait
    session_worker_unavailable, ///< the session's worker is gone, or not the lease's; no other is allowed
    pool_not_found,             ///< the pool_manager has no pool of that name; the text lists its pools
    forked, ///< this process is a fork of the process that started the pool, and has no workers; permanent
    out_of_memory, ///< no memory for the call; or none for the pool itself, and the pool has failed: see pool
    no_node,       ///< like no_worker, where workers are nodes: no node was linked, or the bus out of reach
    node_lost,     ///< the node, or the link to it, was lost while it had the call, which may still run there
};

/// Returns true if the same call may succeed later, because the failure says nothing about the request:
/// pool_saturated, queue_timeout, no_worker, no_node, worker_busy, unavailable, timeout, worker_lost,
/// node_lost and session_backend_failed. After the last four the call may have run, or may still run: repeat
/// the call only if running it twice does no harm.
SKEP_API bool retryable(errc code) noexcept;

/// Returns true if the caller made a mistake, and neither pool nor worker can help: unknown_command,
/// invalid_arguments, invalid_request, frame_too_large, poisonous_request, unknown_worker, pool_not_found,
/// invalid_config, session_not_found and invalid_session. For a remote_error, see is_callers_fault(const
/// error&).
SKEP_API bool is_callers_fault(errc code) noexcept;

/// Returns the category of errc, named "skep". Its message() is a short phrase per code, for counters and
/// labels. The facts of one failure, and a remedy, are in error::what().
SKEP_API const boost::system::error_category& error_category() noexcept;

/// Returns `code` as an error_code.
SKEP_API boost::system::error_code make_error_code(errc code) noexcept;

/// Returns the name of the enumerator, for labels: "queue_timeout". Empty if there is no such enumerator.
SKEP_API std::string_view to_string(errc code) noexcept;

} // namespace skep

template <>
struct boost::system::is_error_code_enum<skep::errc> : std::true_type {};

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <boost/system/error_code.hpp>

#include <string_view>
#include <type_traits>

namespace skep {

/// Every way in which an operation of the library fails. Each call ends with a reply or with exactly one of
/// these.
enum class errc {
    invalid_config = 1, ///< a field of pool_config breaks its rule; the text names field, value and rule
    not_started,        ///< start() was not called, or has not returned for what waits for that
    already_started,    ///< start() was called twice
    shutting_down,      ///< the pool is shutting down or has shut down
    start_failed, ///< too few workers came up, and no later start() did better; carries cause and output tail of the last failure
    restart_failed, ///< a new worker did not come up, and the old ones go on; carries its cause
    pool_saturated, ///< the wait queue is full: the call was refused at once
    queue_timeout,  ///< no worker became free for as long as the call might wait; says if some take no calls
    no_worker, ///< likewise, and when that time, or the call's own, was over none was up; with the last cause
    timeout, ///< the call's timeout or deadline passed, whoever noticed it; or a ping() had no answer in time
    cancelled,    ///< the caller cancelled the operation
    worker_lost,  ///< the worker died, froze or broke the protocol while it had the call
    remote_error, ///< the worker's code raised an exception: see error_info::remote_*
    unknown_command, ///< the worker has no such command (the text lists its commands), or no health check to probe
    invalid_arguments, ///< the command does not take these arguments; the text says which ones it takes
    invalid_request,  ///< the request cannot be encoded (arguments that are no object, NaN); nothing was sent
    frame_too_large,  ///< the request's encoding exceeds the frame limit; nothing was sent
    spawn_failed,     ///< the worker process could not be created; the text names the step and its cause
    startup_timeout,  ///< the worker did not complete its handshake in time
    handshake_failed, ///< the worker exited or spoke wrongly before it was ready
    heartbeat_lost,   ///< the worker stopped answering pings
    protocol_error,   ///< the worker broke the wire protocol
    illegal_transition, ///< a worker state change that the lifecycle does not allow
    unavailable,        ///< too many workers failed of late and none is left; carries the last cause
    poisonous_request, ///< workers crashed, broke the protocol or outgrew their memory on this very input: it was refused
    unknown_worker,        ///< no worker of that id is alive
    initialization_failed, ///< a function of the user's initialization_delegate refused the worker, or the start
    tool_cycle,            ///< a tool's call could only run once the workers are done that wait for it
    type_mismatch, ///< a value does not fit the type it was to become: see value_as; the call itself has succeeded
    session_quota_exceeded, ///< there are as many sessions as session_options::quota, or affinity_options::limit, allows
    session_not_found,      ///< there is no session of that id, or it has expired
    invalid_session,        ///< a session's id or ttl breaks its rule; the text names the rule
    session_backend_failed, ///< where the sessions are kept could not do it; the text names operation and cause
    worker_busy, ///< the worker of the session, or of the checkout, has no room, and the affinity allows no wait
    session_worker_unavailable, ///< the session's worker is gone, or is not the lease's; the affinity allows no other
    pool_not_found,             ///< the pool_manager has no pool of that name; the text lists those it has
    forked, ///< this process was forked from the one that started the pool, and has no workers; not a pool's to repair
    out_of_memory, ///< there was no memory for the call, or none for the pool itself, which has failed: see pool
};

/// Whether the same call may succeed if it is made again after a while, because the failure says nothing about the
/// request: pool_saturated, queue_timeout, no_worker, worker_busy, unavailable, timeout, worker_lost and
/// session_backend_failed. After the last three the call may have run, or still be running: make it again only if it
/// may be done twice.
SKEP_API bool retryable(errc code) noexcept;

/// Whether it was the caller who did something wrong, so that neither pool nor worker can help it: unknown_command,
/// invalid_arguments, invalid_request, frame_too_large, poisonous_request, unknown_worker, pool_not_found,
/// invalid_config, session_not_found and invalid_session. Of a remote_error only the error itself can tell: see
/// is_callers_fault(const error&).
SKEP_API bool is_callers_fault(errc code) noexcept;

/// The category of errc, named "skep". Its messages are a short phrase for each code, fit for counters and labels;
/// what is known of one failure, and what to do about it, is in error::what().
SKEP_API const boost::system::error_category& error_category() noexcept;

/// By which an errc becomes an error_code.
SKEP_API boost::system::error_code make_error_code(errc code) noexcept;

/// Its name here, such as "queue_timeout": for labels. Empty for what is none of them.
SKEP_API std::string_view to_string(errc code) noexcept;

} // namespace skep

template <>
struct boost::system::is_error_code_enum<skep::errc> : std::true_type {};

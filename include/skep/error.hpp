// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_class.hpp>
#include <skep/exit_status.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>
#include <type_traits>

namespace skep {

/// Every way in which an operation of the library fails. Each call ends with a reply or with exactly one of
/// these.
enum class errc {
    invalid_config = 1, ///< a field of pool_config breaks its rule; the text names field, value and rule
    not_started,        ///< the pool has not been started
    starting,           ///< the pool is still starting; await start() first
    already_started,    ///< start() was called twice
    shutting_down,      ///< the pool is shutting down or has shut down
    start_failed,     ///< too few workers came up; carries the cause and the output tail of the last failure
    pool_saturated,   ///< the wait queue is full: the call was refused at once
    queue_timeout,    ///< no worker became free within queue_timeout
    timeout,          ///< the call's timeout or deadline passed
    cancelled,        ///< the caller cancelled the operation
    worker_lost,      ///< the worker died, froze or broke the protocol while it had the call
    remote_error,     ///< the worker's code raised an exception: see error_info::remote_*
    invalid_request,  ///< the request cannot be encoded (text that is not UTF-8, NaN); nothing was sent
    frame_too_large,  ///< the request's encoding exceeds the frame limit; nothing was sent
    spawn_failed,     ///< the worker process could not be created; the text names the step and its cause
    startup_timeout,  ///< the worker did not complete its handshake in time
    handshake_failed, ///< the worker exited or spoke wrongly before it was ready
    heartbeat_lost,   ///< the worker stopped answering pings
    protocol_error,   ///< the worker broke the wire protocol
    illegal_transition, ///< a worker state change that the lifecycle does not allow
    unavailable,        ///< too many workers failed of late and none is left; carries the last cause
    poisonous_request,  ///< workers crashed, or broke the protocol, on this very input before: it was refused
    unknown_worker,     ///< no worker of that id is alive
};

/// The category of errc, named "skep". Messages say what happened and what to do about it.
SKEP_API const boost::system::error_category& error_category() noexcept;

SKEP_API boost::system::error_code make_error_code(errc code) noexcept;

/// What is known about a failure beyond its code. Fields that do not apply are empty.
struct error_info {
    std::string detail;              ///< what exactly went wrong, one sentence
    std::string pool;                ///< pool name
    std::string command;             ///< the command that was called
    std::optional<worker_id> worker; ///< the worker involved
    pid_t pid = 0;                   ///< its process id (it may be gone), 0 if it never had one
    exit_status status;              ///< how its process ended, if it did
    exit_class exit_kind{};          ///< what kind of end that was
    std::string exit_evidence;       ///< what says so
    std::string stacks;              ///< a frozen worker's stacks, taken before it was ended (at most 4 KiB)
    std::string output_tail;         ///< the last lines it wrote to stdout and stderr (at most 4 KiB)
    duration wait_time{};            ///< how long the call waited in the queue
    std::size_t queue_depth = 0;     ///< calls waiting when it failed
    int attempts = 0;                ///< how many workers the call was sent to
    std::string remote_type;         ///< the worker's exception: its type
    std::string remote_message;      ///< its message
    std::string remote_traceback;    ///< its traceback
};

/// The exception thrown by every operation of the library. what() holds the whole story, ready to be logged;
/// it contains neither arguments nor environment.
class SKEP_API error : public boost::system::system_error {
public:
    error(errc code, error_info details);

    const char* what() const noexcept override { return text_.c_str(); }

    error_info info;

private:
    std::string text_;
};

} // namespace skep

template <>
struct boost::system::is_error_code_enum<skep::errc> : std::true_type {};

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/worker_state.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace skep {

/// The cause of a worker's departure. The last two causes are failures that do not end a worker by
/// themselves.
enum class departure_cause {
    surplus,        ///< the pool needs fewer workers
    recycling,      ///< a new worker replaces this worker
    shutdown,       ///< the pool told the worker to stop
    failed_probes,  ///< too many health probes in a row failed
    overdue_call,   ///< the worker still runs an abandoned call
    failed_reset,   ///< the reset command of a lease failed
    memory_limit,   ///< the worker holds more than recycle.hard_memory
    failed_start,   ///< the worker did not come up
    protocol_error, ///< the worker broke the protocol
    lost_heartbeat, ///< the worker stopped answering pings
    lost_channel,   ///< a channel to the worker broke
    process_exit,   ///< the process ended by itself
    host_memory,    ///< the host had no memory to continue with the worker
    error_streak,   ///< call after call failed, perhaps through the callers' fault: a probe decides
    fails_alone     ///< the worker fails calls that its siblings answer, and is recycled
};
inline constexpr std::size_t departure_cause_count = 15;

enum class departure_kind {
    plan,  ///< the worker is in order
    fault, ///< the worker failed, but can still stop gracefully
    loss   ///< the worker is lost, and its calls end at once
};

departure_kind kind_of(departure_cause cause) noexcept;

/// Why and how a worker leaves. A worker that stays has no departure. Later reasons only raise an existing
/// departure, through raise(). The urgency never falls. A failure that ends the worker at once replaces a
/// departure that lets the worker drain. Any other cause stays, with two exceptions: the end of the process
/// replaces a lost channel, and a lack of host memory replaces a cause that lets the worker stop, because the
/// stop sequence cannot go on. So the cause always names the real end of the worker.
struct departure {
    explicit departure(departure_cause first_cause, std::string text,
                       errc error = errc::worker_lost) noexcept;

    departure_cause cause;
    bool planned;       ///< the worker was in order when it left service, regardless of later failures
    stop_stage urgency; ///< the first stage of the stop sequence; `none` while the worker drains
    errc code;          ///< for callers that wait for the worker itself
    std::string detail; ///< for people
};

/// Returns the cause as a reason for the worker's history.
transition_reason code_of(const departure& reason) noexcept;

/// Returns true if `later` replaces `known_departure`.
bool outranks(const departure& later, const departure& known_departure) noexcept;

/// Merges `later` into `current_departure`. Returns true if the cause of `later` is now the cause.
bool raise(std::optional<departure>& current_departure, departure later) noexcept;

} // namespace skep

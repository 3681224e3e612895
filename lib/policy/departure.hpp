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

/// Why a worker leaves. The last two are failures that end no worker by themselves.
enum class departure_cause {
    surplus,        ///< the pool needs fewer workers
    recycling,      ///< a new worker takes its place
    shutdown,       ///< the pool told the worker to stop
    failed_probes,  ///< too many health probes in a row failed
    overdue_call,   ///< the worker is still at a call that was given up
    failed_reset,   ///< the reset command of a lease failed
    memory_limit,   ///< the worker holds more than recycle.hard_memory
    failed_start,   ///< the worker did not come up
    protocol_error, ///< the worker broke the protocol
    lost_heartbeat, ///< the worker stopped answering pings
    lost_channel,   ///< a channel to the worker broke
    process_exit,   ///< the process ended by itself
    host_memory,    ///< the host had no memory to go on with the worker
    error_streak,   ///< call after call failed, which may be the callers' doing: a probe decides
    fails_alone     ///< the worker fails what its siblings answer: it is recycled
};
inline constexpr std::size_t departure_cause_count = 15;

enum class departure_kind {
    plan,  ///< nothing is wrong with the worker
    fault, ///< the worker did something wrong, and can still be stopped in good order
    loss   ///< nothing is to be expected of the worker: its calls are lost at once
};

departure_kind kind_of(departure_cause cause) noexcept;

/// Why and how a worker leaves. A worker has none while it is to stay. Once there is one it is only raised, by raise():
/// the urgency never falls, and a failure that ends the worker at once takes the place of a departure that would have let
/// it drain. After that the cause stays, with two exceptions: the end of the process tells more than that of a channel,
/// and a lack of memory ends a worker that the stop sequence would have ended. So the cause is always what really ended
/// the worker.
struct departure {
    explicit departure(departure_cause first_cause, std::string text,
                       errc error = errc::worker_lost) noexcept;

    departure_cause cause;
    bool planned; ///< nothing was wrong with the worker when it left service, whatever has ended it since
    stop_stage urgency; ///< where the stop sequence begins; `none` while the worker drains
    errc code;          ///< for callers that wait for the worker itself
    std::string detail; ///< for people
};

/// The cause in a worker's history.
transition_reason code_of(const departure& reason) noexcept;

/// Whether `later` takes the place of `known_departure`.
bool outranks(const departure& later, const departure& known_departure) noexcept;

/// Merges `later` into `current_departure`. Returns true if its cause is the cause from now on.
bool raise(std::optional<departure>& current_departure, departure later) noexcept;

} // namespace skep

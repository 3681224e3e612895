// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/call_outcomes.hpp"
#include "pool/pool_parts.hpp"
#include "pool/pool_shutdown.hpp"
#include "pool/supply/inspection.hpp"

namespace skep {

/// Applies the events of workers: to the supervisor, the calls, the sizing and the shutdown. On the pool's
/// strand.
class pool_events {
public:
    pool_events(pool_parts& parts, call_outcomes& outcomes, inspection& ends, pool_shutdown& shutdown)
        : parts_(parts), outcomes_(outcomes), inspection_(ends), shutdown_(shutdown) {}

    /// Schedules apply_all().
    void wake();

    /// Applies all pending events, and notifies waiting coroutines.
    void apply_all();

private:
    void apply(worker& subject, const came_up& fact);
    void apply(worker& subject, const room_changed& fact);
    void apply(worker& subject, const went_wrong& fact);
    void apply(worker& subject, const used_up& fact);
    void apply(worker& subject, const condition_changed& fact);
    void apply(worker& subject, const pings_missed& fact);
    void apply(worker& subject, const left_service& fact);
    void apply(worker& subject, const calls_lost& fact);
    void apply(worker& subject, const ended& fact);
    void publish_availability();
    void record_end(const worker& ended_worker);
    void publish_end(const worker& ended_worker) const;
    void log_end(const worker& ended_worker) const;

    pool_parts& parts_;
    call_outcomes& outcomes_;
    inspection& inspection_;
    pool_shutdown& shutdown_;
};

} // namespace skep

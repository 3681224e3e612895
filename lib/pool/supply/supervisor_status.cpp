// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a supervisor tells about its workers.

#include "pool/supply/supervisor.hpp"

namespace skep {

void supervisor::report(pool_status& status, time_point now) {
    status.desired = roster_.desired();
    status.live = roster_.ready();
    status.starting = roster_.starting();
    status.retiring = roster_.leaving().size();
    status.breaker = intensity_.state(now);
    status.restarts_left = intensity_.left(now);
    if (last_failure_.info().worker) {
        status.last_failure = last_failure_.info();
    }
    for (std::size_t index = 0; index < roster_.slots().size(); ++index) {
        const auto& slot = roster_[index];
        if (slot.current) {
            status.workers.push_back(slot.current->status(now));
            status.workers.back().waits_to_leave = replacement_.why_it_waits(index);
        } else if (slot.wanted) {
            status.workers.push_back(status_of_vacant(index, now));
        } else {
            continue;
        }
        status.workers.back().last_failure = slot.last_failure;
    }
    for (const auto& slot : roster_.slots()) {
        if (slot.successor) {
            status.workers.push_back(slot.successor->status(now));
        }
    }
    for (const auto& each : roster_.leaving()) {
        status.workers.push_back(each->status(now));
    }
    auto& counters = status.counters;
    counters.workers_started = past_.workers_started;
    counters.workers_lost = past_.workers_lost;
    counters.workers_replaced = past_.workers_replaced;
    counters.workers_recycled = past_.workers_recycled;
    counters.workers_removed = past_.workers_removed;
    counters.unhealthy_workers_terminated = past_.unhealthy_workers_terminated;
    counters.crashes = past_.crashes;
    counters.start_failures = past_.start_failures;
    counters.missed_pings = past_.missed_pings;
    counters.output_lines_dropped = past_.output_lines_dropped;
    roster_.for_each(
        [&counters](worker& each) { counters.output_lines_dropped += each.output_lines_dropped(); });
}

worker_status supervisor::status_of_vacant(std::size_t index, time_point now) {
    const auto& slot = roster_[index];
    const auto start = slot.plan.earliest_start(roster_.ready() + roster_.starting());
    worker_status entry;
    entry.id = roster_.next_id(index);
    describe_life(entry, roster_.vacancy(index), context_.present());
    entry.availability = to_availability_view(entry.state, slot.plan.is_tainted(now));
    const bool waits = !slot.plan.is_in_launch() && start > now;
    if (waits && !slot.plan.awaits_verdict()) {
        entry.held_for = start - now;
    }
    return entry;
}

} // namespace skep

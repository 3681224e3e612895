// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What the pool tells of itself by events is what its counters say.

#include "simulation/oracle.hpp"

namespace skep::simulation {

void oracle::on_event(const event& what) {
    const spared_by_faults here;
    if (const auto* const finished = std::get_if<events::request_finished>(&what)) {
        ++(finished->outcome == "ok" ? told_.succeeded : told_.failed);
    } else if (const auto* const missed = std::get_if<events::heartbeat_missed>(&what)) {
        told_.missed_pings += static_cast<std::uint64_t>(missed->count);
    }
    told_.retried += std::holds_alternative<events::request_retried>(what) ? 1 : 0;
    told_.workers_started += std::holds_alternative<events::worker_ready>(what) ? 1 : 0;
    told_.scale_ups += std::holds_alternative<events::pool_scale_up>(what) ? 1 : 0;
    told_.scale_downs += std::holds_alternative<events::pool_scale_down>(what) ? 1 : 0;
}

void oracle::check_events(const pool_counters& said) {
    if (!are_events_told_ || out_of_memory()) {
        return;
    }
    const auto compare = [&](std::string_view what, std::uint64_t told, std::uint64_t counted) {
        if (told != counted) {
            wrong("events tell of " + std::to_string(told) + " " + std::string(what) + ", the counters of " +
                  std::to_string(counted));
        }
    };
    compare("calls that succeeded", told_.succeeded, said.succeeded);
    compare("calls that failed", told_.failed, said.failed);
    compare("retries", told_.retried, said.retried);
    compare("workers that came up", told_.workers_started, said.workers_started);
    compare("missed pings", told_.missed_pings, said.missed_pings);
    compare("times it grew", told_.scale_ups, said.scale_ups);
    compare("times it shrank", told_.scale_downs, said.scale_downs);
}

} // namespace skep::simulation

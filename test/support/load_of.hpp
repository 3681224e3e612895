// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/load_view.hpp>
#include <skep/pool_status.hpp>

#include <string>

namespace skep::test {

/// The load of a pool as its status tells it. At rest pool::load() says the same.
inline load_view load_of(const pool_status& status) {
    load_view load{status.in_flight, status.queued, 0, can_serve(status)};
    for (const auto& each : status.workers) {
        const bool is_serving = each.state == worker_state::ready || each.state == worker_state::busy;
        load.places += is_serving && !each.retiring ? each.capacity : 0;
    }
    return load;
}

inline std::string text_of_load(const load_view& load) {
    return std::to_string(load.in_flight) + " in flight, " + std::to_string(load.queued) + " queued, " +
           std::to_string(load.places) + " places, " + (load.can_serve ? "serves" : "serves nobody");
}

} // namespace skep::test

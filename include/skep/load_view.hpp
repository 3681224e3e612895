// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// The load of a pool: see pool::load().
struct load_view {
    std::size_t in_flight = 0; ///< calls at workers, as pool_status::in_flight
    std::size_t queued = 0;    ///< calls and checkouts that wait, as pool_status::queued
    std::size_t places = 0;    ///< calls, or batches, that the workers in service run at a time
    bool can_serve = false;    ///< true if the pool would serve a call, as can_serve(pool_status)
};

} // namespace skep

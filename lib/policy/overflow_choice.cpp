// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/overflow_choice.hpp"

namespace skep {

namespace {

constexpr double way = 0.25; ///< what the way elsewhere costs, in calls per place

/// Returns the load per place with one call more. Precondition: there are places.
double score(const load_view& load) noexcept {
    return static_cast<double>(load.in_flight + load.queued + 1) / static_cast<double>(load.places);
}

} // namespace

bool stays_here(overflow mode, const load_view& local) noexcept {
    return mode == overflow::local_first && local.can_serve && local.in_flight + local.queued < local.places;
}

bool goes_elsewhere(overflow mode, const load_view& local, const load_view& elsewhere) noexcept {
    if (!elsewhere.can_serve || !local.can_serve) {
        return elsewhere.can_serve;
    }
    return mode == overflow::elsewhere_first ||
           (!stays_here(mode, local) && score(elsewhere) + way < score(local));
}

bool may_run_at_other_place(errc code) noexcept {
    switch (code) {
    case errc::not_started:
    case errc::start_failed:
    case errc::pool_saturated:
    case errc::no_worker:
    case errc::no_node:
    case errc::unavailable: return true;
    default: return false;
    }
}

} // namespace skep

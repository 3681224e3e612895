// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/lease_claim.hpp"

#include "pool/demand/tool_cycle.hpp"

namespace skep {

std::size_t lease_claim::places_taken() const noexcept {
    std::size_t count = 0;
    std::uint64_t last_place = 0;
    const auto& calls = assigned_worker->calls();
    calls.for_each(calls.size(), [&](const call& each) {
        count += lease_of(each) == this && each.place_id != last_place ? 1 : 0;
        last_place = each.place_id;
    });
    return count;
}

/// A probe of the worker's health may take the lease's place for a moment.
bool lease_claim::can_begin_call() const noexcept {
    const auto& calls = assigned_worker->calls();
    return calls.is_open() && !calls.is_full() && places_taken() < places;
}

bool lease_claim::is_full_until(const call& inner) const noexcept {
    std::size_t held = 0;
    for (const auto* outer = outer_of(inner); outer != nullptr; outer = outer_of(*outer)) {
        held += lease_of(*outer) == this ? 1 : 0;
    }
    return held >= places;
}

} // namespace skep

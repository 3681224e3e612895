// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/lease_claim.hpp"

#include "pool/demand/tool_cycle.hpp"

namespace skep {

std::size_t lease_claim::calls_at_worker() const noexcept {
    std::size_t count = 0;
    assigned_worker->calls().for_each(assigned_worker->calls().load(),
                                      [&](const call& each) { count += lease_of(each) == this ? 1 : 0; });
    return count;
}

/// A probe of the worker's health may take the lease's place for a moment.
bool lease_claim::can_begin_call() const noexcept {
    const auto& calls = assigned_worker->calls();
    return calls.is_open() && !calls.is_full() && calls_at_worker() < places;
}

bool lease_claim::is_full_until(const call& inner) const noexcept {
    std::size_t held = 0;
    for (const auto* outer = outer_of(inner); outer != nullptr; outer = outer_of(*outer)) {
        held += lease_of(*outer) == this ? 1 : 0;
    }
    return held >= places;
}

} // namespace skep

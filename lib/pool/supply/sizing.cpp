// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supply/sizing.hpp"

#include <algorithm>
#include <tuple>

namespace skep {

std::size_t sizing::set_desired(std::size_t count, bool idle_only) {
    while (roster_.desired() < count) {
        roster_.want_one();
    }
    while (roster_.desired() > count && retire_one(idle_only)) {}
    return roster_.desired();
}

bool sizing::retire_one(bool idle_only) {
    if (!roster_.vacant().empty()) {
        retire_slot(*roster_.vacant().rbegin());
        return true;
    }
    if (!idle_only && retire_unstarted()) {
        return true;
    }
    const auto* const chosen = most_dispensable(idle_only);
    if (chosen != nullptr) {
        retire_slot(chosen->id().slot);
    }
    return chosen != nullptr;
}

bool sizing::retire_unstarted() {
    auto& slots = roster_.slots();
    const auto found = std::find_if(slots.rbegin(), slots.rend(), [](const slot& each) {
        return each.wanted && each.current && !each.current->life().was_up();
    });
    if (found == slots.rend()) {
        return false;
    }
    retire_slot(static_cast<std::size_t>(slots.rend() - found) - 1);
    return true;
}

/// Returns the worker that has been idle longest, so that the caches of the others stay warm. Workers held by
/// leases or sessions come last.
worker* sizing::most_dispensable(bool idle_only) const noexcept {
    const auto worth = [](const worker& each) {
        return std::tuple(each.is_held(), !each.is_idle(), each.calls().last_assigned());
    };
    worker* best = nullptr;
    for (const auto& slot : roster_.slots()) {
        auto* const each = slot.wanted && slot.serves() ? slot.current.get() : nullptr;
        if (each == nullptr || (idle_only && (!each->is_idle() || each->is_held()))) {
            continue;
        }
        best = best == nullptr || worth(*each) < worth(*best) ? each : best;
    }
    return best;
}

void sizing::retire_slot(std::size_t index) {
    roster_.unwant(index);
    if (const auto successor = roster_[index].successor) {
        successor->stop(stop_stage::terminate);
    }
    if (const auto current = roster_[index].current) {
        current->retire(departure_cause::surplus, "no longer needed");
        if (!current->life().was_up()) {
            current->stop(stop_stage::terminate);
        }
    }
}

} // namespace skep

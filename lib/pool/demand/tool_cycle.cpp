// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/tool_cycle.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace skep {

namespace {

using call_set = std::unordered_set<const call*>;

/// Returns the calls that cannot end before waiting calls have ended. `slot`: only calls that wait for its
/// worker; empty = all waiting calls.
call_set stuck_behind(wait_queue& queue, std::optional<std::uint32_t> slot) {
    call_set stuck;
    queue.for_each([&](claim& each) {
        const auto* const inner = each.as_call();
        const bool counts = inner != nullptr && (!slot || each.slot == slot);
        const auto* outer = counts ? outer_of(*inner) : nullptr;
        for (; outer != nullptr; outer = outer_of(*outer)) {
            stuck.insert(outer);
        }
    });
    return stuck;
}

} // namespace

bool waits_for_itself(const call& made_by_tool, wait_queue& queue, const placement& places) {
    const auto slot = made_by_tool.slot;
    const auto stuck = stuck_behind(queue, slot);
    std::size_t all = 0;
    std::size_t held = 0;
    places.for_each_worker([&](const worker& each) {
        if (slot && each.id().slot != *slot) {
            return;
        }
        std::size_t stuck_there = 0; // places
        std::uint64_t last_place = 0;
        each.calls().for_each(each.calls().size(), [&](const call& each_call) {
            const bool is_stuck = each_call.state == call_state::running && stuck.contains(&each_call);
            if (is_stuck && each_call.place_id != last_place) {
                ++stuck_there;
                last_place = each_call.place_id;
            }
        });
        all += each.calls().capacity();
        held += std::min(stuck_there, each.calls().capacity());
    });
    return all > 0 && held == all;
}

std::string trail_of(const call& made_by_tool) {
    std::string trail = made_by_tool.req.command();
    const auto* inner = &made_by_tool;
    for (const auto* outer = outer_of(*inner); outer != nullptr; outer = outer_of(*inner)) {
        trail.insert(0, outer->req.command() + " -> tool " + inner->ties->parent_tie->tool + " -> ");
        inner = outer;
    }
    return trail;
}

} // namespace skep

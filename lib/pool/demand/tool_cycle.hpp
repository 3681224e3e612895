// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/placement.hpp"
#include "pool/demand/wait_queue.hpp"

#include <string>

namespace skep {

/// Returns the call served by the tool that made `inner`; null if no tool made it.
inline const call* outer_of(const call& inner) noexcept {
    return inner.ties && inner.ties->parent_tie ? inner.ties->parent_tie->outer.get() : nullptr;
}

/// Returns true if the call, made by a tool, would wait forever: every suitable place is held by a call that
/// cannot end before a call in `queue`, made for it by a tool, directly or indirectly, has had such a place.
bool waits_for_itself(const call& made_by_tool, wait_queue& queue, const placement& places);

/// Describes how a tool came to make the call: "predict -> tool lookup -> embed".
std::string trail_of(const call& made_by_tool);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/placement.hpp"
#include "pool/demand/wait_queue.hpp"

#include <string>

namespace skep {

/// The call that the tool serves which has made this one; null if none has.
inline const call* outer_of(const call& inner) noexcept {
    return inner.ties && inner.ties->parent_tie ? inner.ties->parent_tie->outer.get() : nullptr;
}

/// Whether every place that would do for the call, which a tool has made, is held by a call that can only end after one of
/// its tools' calls, or of their tools', has had such a place, which those in `queue` wait for.
bool waits_for_itself(const call& made_by_tool, wait_queue& queue, const placement& places);

/// How a tool came to make the call: "predict -> tool lookup -> embed".
std::string trail_of(const call& made_by_tool);

} // namespace skep

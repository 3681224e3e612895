// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/placement.hpp"
#include "pool/wait_queue.hpp"

#include <string>

namespace skep {

/// The call that the tool serves which has made this one; null if none has.
inline const call* outer_of(const call& inner) noexcept {
    return inner.ties && inner.ties->within ? inner.ties->within->outer.get() : nullptr;
}

/// Whether every place is held by a call that can only end after one of its tools' calls, or of their tools', has had a
/// place, which all those in `waiting` that tools have made wait for.
bool waits_for_itself(wait_queue& waiting, const placement& places);

/// How a tool came to make the call: "predict -> tool lookup -> embed".
std::string trail_of(const call& made_by_tool);

} // namespace skep

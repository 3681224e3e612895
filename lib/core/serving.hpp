// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/worker_state.hpp>

namespace skep {

/// Returns true if a worker in that state takes calls, or would with a free place. `is_leaving`: the worker
/// takes no more calls, and ends after its present calls.
constexpr bool is_serving(worker_state state, bool is_leaving) noexcept {
    return (state == worker_state::ready || state == worker_state::busy) && !is_leaving;
}

} // namespace skep

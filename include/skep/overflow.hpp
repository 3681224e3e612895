// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// The place that gets a call first if a pool_manager has the pool on this machine and elsewhere.
enum class overflow {
    /// Calls go to the local pool while it has room, and then to the place with the lower load per place.
    local_first,

    /// Calls go elsewhere. The local pool gets calls while no other place can serve them.
    elsewhere_first
};

} // namespace skep

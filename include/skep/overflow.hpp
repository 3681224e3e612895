// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// Where the calls of a pool go that a pool_manager has on this machine and elsewhere.
enum class overflow {
    /// Calls go to the local pool while it has room, and then to the place with the lower load per place.
    local_first,

    /// Calls go elsewhere. The local pool gets calls while no other place can serve them.
    elsewhere_first
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_manager.hpp>

#include <vector>

namespace skep {

/// Returns all pools of a manager, ordered by name.
inline std::vector<pool*> pools_of(pool_manager& all) {
    std::vector<pool*> pools;
    for (const auto& name : all.names()) {
        pools.push_back(&all.get(name));
    }
    return pools;
}

} // namespace skep

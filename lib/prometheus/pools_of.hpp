// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_manager.hpp>

#include <vector>

namespace skep {

/// All pools of a manager, in the order of their names.
inline std::vector<pool*> pools_of(pool_manager& all) {
    std::vector<pool*> pools;
    for (const auto& name : all.names()) {
        pools.push_back(&all.get(name));
    }
    return pools;
}

} // namespace skep

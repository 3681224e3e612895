// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_manager.hpp>

#include <set>
#include <string>
#include <vector>

namespace skep {

/// A pool under observation.
struct shown_pool {
    std::string name;  ///< one of a kind
    std::string place; ///< name for calls, which several pools may share
    observed_pool* pool;
};

/// Returns one pool as a list.
inline std::vector<shown_pool> pools_of(observed_pool& one) {
    return {{one.name(), one.name(), &one}};
}

/// Returns all pools of a manager, and the pools elsewhere. A pool elsewhere with the name of another pool is
/// called "NAME-elsewhere".
inline std::vector<shown_pool> pools_of(pool_manager& all) {
    std::vector<shown_pool> pools;
    std::set<std::string> names;
    for (const auto& each : all.observed()) {
        auto name = each.pool->name();
        while (!names.insert(name).second) {
            name += "-elsewhere";
        }
        pools.push_back({std::move(name), each.name, each.pool});
    }
    return pools;
}

} // namespace skep

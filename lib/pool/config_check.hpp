// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>

namespace skep {

struct manager_config;

/// Adds every problem of a configuration, as checked on this machine.
void check(const pool_config& config, config_problems& problems);

/// Returns the number of workers that the pool must be able to have, regardless of other pools.
std::size_t least_workers(const pool_config& config);

/// Adds a problem if max_workers is below the sum of the pools' minimum sizes.
void check_max_workers(const manager_config& config, config_problems& problems);

} // namespace skep

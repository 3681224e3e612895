// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>

namespace skep {

struct manager_config;

/// Adds all that is wrong with a configuration, for the machine that this is.
void check(const pool_config& config, config_problems& problems);

/// The number of workers that the pool has to be able to have, whatever others have.
std::size_t least_workers(const pool_config& config);

/// Adds a problem if the pools cannot have the least numbers of their workers.
void check_max_workers(const manager_config& config, config_problems& problems);

} // namespace skep

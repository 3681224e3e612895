// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

namespace skep {

/// Adds all that is wrong with a configuration, for the machine that this is.
void check(const pool_config& config, config_problems& problems);

} // namespace skep

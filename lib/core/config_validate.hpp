// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

namespace skep {

/// Adds the rules that are broken, of fields and between them. `workers` is what config.workers says or, by 0, means.
void check_config(const pool_config& config, std::size_t workers, config_problems& problems);

/// Throws error(errc::invalid_config) naming what is wrong with what one worker is to be started with; but for its
/// directory, as looking at that may block.
void check_launch(const launch_options& launch);

} // namespace skep

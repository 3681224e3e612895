// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

namespace skep {

/// Throws error(invalid_config) naming field, value and rule. `workers` is what config.workers says or, by 0, means.
void check_config(const pool_config& config, std::size_t workers);

/// The same for what one worker is to be started with; but for its directory, as looking at that may block.
void check_launch(const launch_options& launch);

} // namespace skep

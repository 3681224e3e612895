// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

namespace skep {

/// Adds the violated rules, of single fields and between fields. `workers` is config.workers, or its default.
void check_config(const pool_config& config, std::size_t workers, config_problems& problems);

/// Throws error(errc::invalid_config) with the problems of a worker's launch options, except for the
/// directory: a check of the directory may block.
void check_launch(const launch_options& launch);

} // namespace skep

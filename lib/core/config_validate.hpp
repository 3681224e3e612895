// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

namespace skep {

/// Throws error(invalid_config) naming field, value and rule. `cpus` is what workers = 0 stands for.
void check_config(const pool_config& config, std::size_t cpus);

} // namespace skep

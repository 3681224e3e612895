// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_reader.hpp"
#include <skep/pool_config.hpp>

#include <array>
#include <string_view>

namespace skep {

inline constexpr std::array<std::string_view, 6> timeout_profiles{
    "balanced", "production", "production_strict", "development", "ml_inference", "batch"};

inline constexpr std::array<std::string_view, 3> capacity_strategies{"pool", "hybrid", "profile"};

/// Reads the fields of a pool. First applies the preset; fields given explicitly in the object override the
/// preset.
void read_fields(pool_config& config, config_reader& reader);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_manager.hpp>

#include <string>

namespace skep {

/// Reads a file that configures one pool or several pools. Throws error(errc::invalid_config).
manager_config read_configuration(const std::string& path);

} // namespace skep

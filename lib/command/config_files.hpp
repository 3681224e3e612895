// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_manager.hpp>

#include <boost/json/object.hpp>

#include <optional>
#include <string>

namespace skep {

/// Reads a file that configures one pool or several pools. Throws error(errc::invalid_config).
manager_config read_configuration(const std::string& path);

/// Returns the JSON object in a file; empty if the file cannot be read, or holds something else.
std::optional<boost::json::object> read_object(const std::string& path);

} // namespace skep

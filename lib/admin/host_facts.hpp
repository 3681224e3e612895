// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <vector>

namespace skep {

/// Returns to_json(config) without secrets: of the prefix, the arguments and the environments of workers only
/// the number of words and the names of variables.
boost::json::object config_without_secrets(const pool_config& config);

/// Returns what the host is: {"version", "build", "started_at_ms", "configurations": {pool: config}}.
boost::json::object host_facts(const std::vector<pool_config>& configs, std::int64_t started_at_ms);

} // namespace skep

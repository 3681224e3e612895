// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/object.hpp>

#include <cstdint>

namespace skep {

/// Returns what the host is: {"version", "build", "started_at_ms", "configurations": {pool: config}}.
boost::json::object host_facts(boost::json::object configurations, std::int64_t started_at_ms);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <boost/json/object.hpp>

namespace skep {

/// Returns to_json(config) without secrets: of the prefix, the arguments and the environments of workers only
/// the number of words and the names of variables.
boost::json::object shown_config(const pool_config& config);

} // namespace skep

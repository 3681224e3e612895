// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/pool_config.hpp>
#include <skep/remote_options.hpp>

#include <boost/json/object.hpp>

namespace skep {

/// Returns to_json(config) without secrets: of the prefix, the arguments and the environments of workers only
/// the number of words and the names of variables.
boost::json::object shown_config(const pool_config& config);

/// Returns to_json(options) with the values of the secrets replaced.
SKEP_API boost::json::object shown_config(const remote_options& options);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

#include <boost/json/object.hpp>

namespace skep {

/// Returns `defaults`, overridden by the fields in `document`. Adds the problems of each field to `problems`,
/// without the rules between fields (see check_config).
pool_config read_config(const boost::json::object& document, config_problems& problems,
                        pool_config defaults = {});

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

#include <boost/json/object.hpp>

namespace skep {

/// The fields that `document` gives, and those of `defaults` for all others; what is wrong with it by itself, without the rules
/// between fields (see check_config), is added to the problems.
pool_config read_config(const boost::json::object& document, config_problems& problems,
                        pool_config defaults = {});

} // namespace skep

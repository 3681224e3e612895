// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/pool_config.hpp>

#include <boost/json/object.hpp>

#include <string_view>

namespace skep {

/// The fields that `document` gives, and those of `defaults` for all others; what is wrong with it by itself, without the rules
/// between fields (see check_config), is added to the problems.
pool_config read_config(const boost::json::object& document, config_problems& problems,
                        pool_config defaults = {});

/// What a JSON object may be that gives fields of a pool, all of them or some.
boost::json::object schema_of_pool_fields();

/// A file for editors: `body`, which describes an object.
boost::json::object schema_document(std::string_view title, const boost::json::object& body);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <string>

namespace skep {

/// Returns the value of an environment variable, or null if the variable is not set.
using variable_lookup = std::function<const char*(const std::string& name)>;

/// Replaces the references in each string of a document, except in keys: ${NAME} by the value of the
/// variable, ${NAME:-default} by the default if the variable is empty or not set, and $$ by $. Another $
/// stays as it is. Adds a problem for each string with a bad reference; problems never show the value of a
/// variable.
void replace_references(boost::json::value& document, const variable_lookup& look_up,
                        config_problems& problems);

} // namespace skep

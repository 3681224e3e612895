// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"

#include <boost/json/value.hpp>

#include <string_view>

namespace skep {

/// Parses a text that a person wrote. Adds a syntax error with its line and column; the column counts bytes.
boost::json::value parse_document(std::string_view text, config_problems& problems);

} // namespace skep

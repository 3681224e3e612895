// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/object.hpp>

#include <string_view>

namespace skep {

/// Returns the schema of a JSON object with some or all fields of a pool.
boost::json::object schema_of_pool_fields();

/// Returns a schema file for editors with `body`, the description of an object.
boost::json::object schema_document(std::string_view title, const boost::json::object& body);

} // namespace skep

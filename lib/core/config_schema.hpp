// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/object.hpp>

#include <string_view>

namespace skep {

/// What a JSON object may be that gives fields of a pool, all of them or some.
boost::json::object schema_of_pool_fields();

/// A file for editors: `body`, which describes an object.
boost::json::object schema_document(std::string_view title, const boost::json::object& body);

} // namespace skep

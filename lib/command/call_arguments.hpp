// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace skep {

/// Returns the arguments of a call: one JSON object, or NAME=VALUE words. A VALUE that is JSON is passed as
/// its JSON value, anything else as text. Throws usage_error.
boost::json::object call_arguments(const std::vector<std::string>& words);

} // namespace skep

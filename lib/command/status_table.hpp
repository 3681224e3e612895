// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace skep {

/// Returns lines of columns, each as wide as its widest cell. The last column keeps its width.
std::string align(const std::vector<std::vector<std::string>>& rows);

/// Returns the document of /status.json as tables for people: the pools, their workers, and the nodes, if
/// any. Unknown and missing members are shown as "-".
std::string status_table(const boost::json::value& document);

} // namespace skep

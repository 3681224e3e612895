// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace skep {

/// A call that the developer has typed.
struct dev_line {
    std::string pool; ///< empty: the default pool
    std::string command;
    boost::json::object arguments;
};

/// Parses "COMMAND {JSON}", "COMMAND NAME=VALUE ..." or "COMMAND"; "POOL/" may precede the command. A VALUE
/// extends to the next space. Throws usage_error.
dev_line parse_dev_line(std::string_view line);

} // namespace skep

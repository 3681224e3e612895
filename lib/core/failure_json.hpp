// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <optional>
#include <string_view>

namespace skep {

/// Returns the facts of a failure for another program: all but the code and what the worker's code said.
/// Replaces bytes that are not UTF-8: a worker's output may have some.
boost::json::object failure_to_json(const error_info& info);

/// Returns the facts in the output of failure_to_json(). Leaves out members of another type.
error_info failure_from_json(const boost::json::value& facts);

/// Returns the code of that name, or nullopt if there is none.
std::optional<errc> errc_of(std::string_view name) noexcept;

} // namespace skep

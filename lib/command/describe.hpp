// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// Becomes the action describe of the Python package, which prints the commands of a script.
/// Throws usage_error; std::runtime_error if the interpreter cannot be run.
int describe(const std::vector<std::string>& words);

} // namespace skep

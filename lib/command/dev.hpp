// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// Runs the pools of a configuration for their developer: one worker each, with pool_config::debugging().
/// Replaces workers when files *.py of their scripts' folders change. Reads calls from stdin, and prints
/// results and errors. Returns the exit status of the program. Throws usage_error.
int develop(const std::vector<std::string>& words);

} // namespace skep

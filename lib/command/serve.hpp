// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// Runs the pools of a configuration as a node, until SIGTERM or SIGINT. Returns the exit status.
int serve(const std::vector<std::string>& words);

} // namespace skep

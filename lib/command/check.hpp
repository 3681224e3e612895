// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// The result of one check.
struct check_result {
    std::string what; ///< "pool NAME", "nats"; empty: the configuration
    bool is_good = false;
    std::string text; ///< with problems and remedies
};

/// `skep check`: checks a configuration of one pool or several pools: starts one worker of each pool, probes
/// it and ends it. With a "node" or "remote", also connects to a NATS server. Prints the results. Returns the
/// exit status.
int check(const std::vector<std::string>& words);

} // namespace skep

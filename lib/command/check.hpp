// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <iosfwd>
#include <string>

namespace skep {

/// Checks a configuration of one pool or several pools: starts one worker of each pool, probes it and ends
/// it. With a "node", also connects to a NATS server. Writes each result to `out`, with problems and
/// remedies. Returns true if all is well.
bool check_configuration(const std::string& path, std::ostream& out);

} // namespace skep

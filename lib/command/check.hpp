// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <iosfwd>
#include <string>

namespace skep {

/// Reads a configuration of one pool, or of several, and tries each with one worker: starts it, probes it, ends it. Says of
/// each what came of it, with what is wrong and how to mend it; true if all is well.
bool check_configuration(const std::string& path, std::ostream& out);

} // namespace skep

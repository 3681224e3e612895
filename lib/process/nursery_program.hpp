// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// Starts the template with the words of `command`, and collects its descendants until the host gives the
/// nursery up; then ends all of them. Returns the exit code. Preconditions: all signals are blocked.
int run_nursery(char** command);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker program as a template: it forks the workers of a pool with launch.preload. PROTOCOL.md has the
// rules.

#pragma once

#include "process/descriptors.hpp"

namespace skep {

/// Takes the line to the pool if a pool has started this process as a template, and removes its variables
/// from the environment. Returns an empty descriptor for another process.
unique_fd take_template_line();

/// Reports that the program is prepared, and forks a worker for each order. Returns in a worker, which has
/// the session, leash, output, variables and channels of a started worker. Ends this process with the line.
/// Precondition: called on the main thread.
void serve_template(unique_fd line);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"
#include "process/unique_fd.hpp"

namespace skep {

/// Two connected descriptors, one of which goes to another process.
struct fd_pair {
    unique_fd here;
    unique_fd there;
};

/// Throws error(spawn_failed).
fd_pair make_socket_pair(const launcher& launch);
fd_pair make_pipe_to_here(const launcher& launch);

} // namespace skep

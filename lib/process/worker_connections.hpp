// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "process/launcher.hpp"
#include <skep/launch_options.hpp>

namespace skep {

/// The connections of a new worker. Over stdio, stdin and stdout are the data channel.
struct worker_connections {
    /// Throws error(spawn_failed).
    worker_connections(const launcher& launch, transport transport_kind, bool shares_memory);

    child_descriptors for_child() const noexcept;
    void close_far_ends() noexcept;

    const transport kind;
    fd_pair data;
    fd_pair errors;
    fd_pair control; ///< with sockets only
    fd_pair output;  ///< with sockets only
    fd_pair regions; ///< with shared memory only
};

} // namespace skep

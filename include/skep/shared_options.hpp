// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// Memory that the host shares with its workers, for large attachments of calls: one copy instead of two, and
/// none for a shared_buffer.
/// Only for workers with the socket transport that say that they can read such memory; others, and calls
/// without room in the memory, get their attachments over the socket. Answers are the same either way.
struct shared_options {
    bool enabled = false;           ///< lends memory to workers
    std::size_t least = 64u << 10;  ///< attachments from so many bytes on are shared, 4 KiB..1 GiB
    std::size_t bytes = 256u << 20; ///< most memory that is lent to a worker, 1 MiB..1 TiB. Allocated as
                                    ///< needed, and kept until the worker ends. Also the most bytes that one
                                    ///< message shares
    std::size_t regions = 64;       ///< most pieces of that memory, 1..1,024; each doubles the memory
};

} // namespace skep

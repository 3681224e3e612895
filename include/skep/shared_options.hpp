// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// Memory that the host shares with its workers, for large attachments of calls and of their answers: one
/// copy instead of two, and none for a shared_buffer. Only for workers with the socket transport that say
/// that they can use such memory. Others send and get their attachments over the socket, as all workers do
/// with attachments that find no room in the memory. Answers are the same either way, but for attachments of
/// workers beyond limit_options::frame_bytes, which come through memory only, each from `least_result` on.
struct shared_options {
    bool enabled = false;          ///< shares memory with workers
    std::size_t least = 64u << 10; ///< attachments of calls are shared from so many bytes on, 4 KiB..1 GiB
    std::size_t least_result = 1u << 20; ///< attachments of replies, chunks and tool calls, and memory that
                                         ///< is passed on without a copy, from so many bytes on, 4 KiB..1 GiB
    std::size_t bytes = 256u << 20; ///< most memory lent to a worker, most memory of its results, and most
                                    ///< bytes that one message shares, 1 MiB..1 TiB. Allocated as needed,
                                    ///< and kept until the worker ends
    std::size_t regions = 64;       ///< most pieces of each memory, 1..1,024; each doubles the memory

    /// Replies, chunks and tool calls show the worker's own memory instead of a copy. The worker can change
    /// this memory while the service reads it: only for workers that the service trusts. Memory that a blob
    /// shows is not free for further results. Sealed memory cannot change, and is always shown.
    bool show_results = false;
};

} // namespace skep

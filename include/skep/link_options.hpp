// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// The memory of the links between clients and nodes. A link is an ordered stream of bytes over the bus, on
/// which nothing is lost when the bus is cut.
struct link_options {
    /// Bytes that the peer may send over one link before this side acknowledges them, 64 KiB..64 MiB.
    std::size_t window = 2u << 20;

    /// The same over all links of this program together, 64 KiB..4 GiB. If there are many links, each has a
    /// smaller window, but 64 KiB at least. More than half of the servers' max_pending (64 MiB by default)
    /// lets a server end the connection of a program that reads slowly.
    std::size_t all_windows = 32u << 20;
};

} // namespace skep

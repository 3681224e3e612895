// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skep::simulation {

struct result {
    std::optional<std::string> violation; ///< of a promise; nothing if all were kept
    std::uint64_t steps = 0;
};

/// Whether allocations fail in some of the worlds.
inline bool with_allocation_faults = false;

/// Whether the worlds are links between a client and a node.
inline bool with_links = false;

/// Whether the worlds are programs with links over one bus.
inline bool with_hubs = false;

/// Whether the worlds are clients with calls on nodes.
inline bool with_nodes = false;

/// Whether all pools have batches, or send calls ahead to workers that give them back.
inline bool with_batches = false;
inline bool with_recalls = false;

/// Whether all pools have templates.
inline bool with_templates = false;
/// Whether all pools lend memory to their workers.
inline bool with_memory = false;

/// Lives through the world of one seed. The same seed, the same world. After a violation the process is only
/// good for telling of it.
result simulate(std::uint64_t seed, bool tracing);

/// Likewise, for a link.
result simulate_link(std::uint64_t seed, bool tracing);

/// Likewise, for clients and nodes.
result simulate_nodes(std::uint64_t seed, bool tracing);

/// Likewise, for programs with links.
result simulate_hubs(std::uint64_t seed, bool tracing);

} // namespace skep::simulation

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/load_view.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The message of a node to all clients, sent at intervals.
struct node_beacon {
    /// The most bytes of a beacon.
    static constexpr std::size_t most_bytes = 4096;

    std::string node;  ///< the name
    std::string epoch; ///< another with each start of the node
    duration interval{};
    bool is_draining = false;
    std::map<std::string, load_view, std::less<>> pools; ///< by name
};

/// Returns the message. Leaves out the last pools if there are too many.
std::string encode_beacon(const node_beacon& beacon);

/// Returns nullopt for a message that is no beacon. Ignores unknown members.
std::optional<node_beacon> decode_beacon(std::string_view message);

} // namespace skep

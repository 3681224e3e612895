// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The most bytes of a packet on the line for shared memory.
inline constexpr std::size_t most_packet_bytes = 256;

/// A region of memory whose descriptor comes with the packet, or the refusal of a region for results.
struct region_packet {
    std::uint64_t region = 0;    ///< number; 0: the refusal, without a descriptor
    std::size_t bytes = 0;       ///< 1 or more
    bool is_for_results = false; ///< the worker writes there; else the host
};

/// Sealed memory whose descriptor comes with the packet.
struct sealed_packet {
    std::uint64_t number = 0; ///< 1 or more
    std::size_t bytes = 0;    ///< 1 or more
};

std::string encode_region(const region_packet& packet);
std::string encode_sealed(const sealed_packet& packet);

/// Return nullopt for any other packet. Ignore unknown members.
std::optional<region_packet> decode_region(std::string_view text);
std::optional<sealed_packet> decode_sealed(std::string_view text);

} // namespace skep

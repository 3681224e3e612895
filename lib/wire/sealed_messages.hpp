// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// The most attachments of a message in sealed memory: each takes a descriptor of its receiver.
inline constexpr std::size_t most_sealed_attachments = 64;

/// Sealed memory whose descriptor comes with the packet.
struct sealed_packet {
    std::uint64_t number = 0; ///< 1 or more
    std::size_t bytes = 0;    ///< 1 or more
};

std::string encode_sealed(const sealed_packet& packet);

/// Returns nullopt for any other packet. Ignores unknown members.
std::optional<sealed_packet> decode_sealed(std::string_view text);

} // namespace skep

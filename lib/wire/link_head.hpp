// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/link_message.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace skep {

inline constexpr std::size_t link_head_size = 32;

/// Returns the bytes of the message in front of its body.
std::array<char, link_head_size> encode_link_head(const link_message& message) noexcept;

/// Returns the message in `bytes`; the body refers to `bytes`. Returns nullopt for bytes that are not a
/// message of a link.
std::optional<link_message> decode_link_message(std::string_view bytes) noexcept;

} // namespace skep

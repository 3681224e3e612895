// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <string_view>

namespace skep {

/// The reason of a node that ends a link at the client's wish.
inline constexpr std::string_view reason_of_drained_link = "drained";

/// The request of a client for a link.
struct link_wish {
    std::string pool;
    std::string client; ///< the name of the client's program
};

std::string encode_link_wish(const link_wish& wish);

/// Throws protocol_violation for a text that is no wish of this version.
link_wish read_link_wish(std::string_view text);

} // namespace skep

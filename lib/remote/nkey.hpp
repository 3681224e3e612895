// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// Returns the public key, "U...", of a NATS user's seed, "SU...". Returns nullopt for another text.
std::optional<std::string> public_nkey(std::string_view seed);

/// Reads the public key of the first user's seed in a file. Returns nullopt if there is no seed or no file.
std::optional<std::string> read_public_nkey(const std::string& path);

} // namespace skep

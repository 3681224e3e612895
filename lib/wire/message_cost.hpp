// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/value.hpp>

#include <cstddef>

namespace skep {

/// Returns the estimated nanoseconds that the host needs to read JSON of `json_bytes` with a tree of
/// `tree_bytes`: about 1 per byte for text alone, up to 55 per byte for brackets alone. The estimate is the
/// same on every machine, and in every run.
constexpr std::size_t cost_of_reading(std::size_t json_bytes, std::size_t tree_bytes) noexcept {
    return json_bytes + (tree_bytes > json_bytes ? 2 * (tree_bytes - json_bytes) : 0);
}

/// Likewise for attachments, each with its own place, and moved once or twice.
constexpr std::size_t cost_of_attachments(std::size_t bytes, std::size_t count) noexcept {
    return bytes / 2 + 500 * count;
}

/// Returns the bytes of the host's memory for a value, by the protocol's formula.
std::size_t memory_of(const boost::json::value& value);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/value.hpp>

#include <cstddef>

namespace skep {

/// Nanoseconds that the host takes to read JSON of so many bytes, whose tree counts for so many, by estimate: 36 a byte
/// where each is a bracket, 1 where all is text. An estimate is the same on every machine, and in every run.
constexpr std::size_t cost_of_reading(std::size_t json_bytes, std::size_t tree_bytes) noexcept {
    return json_bytes + (tree_bytes > json_bytes ? 2 * (tree_bytes - json_bytes) : 0);
}

/// The same for attachments, which are moved once or twice, and have a place of their own each.
constexpr std::size_t cost_of_attachments(std::size_t bytes, std::size_t count) noexcept {
    return bytes / 2 + 500 * count;
}

/// Bytes that a value takes of the host's memory, by the protocol's formula.
std::size_t memory_of(const boost::json::value& value);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep::simulation {

/// The byte at a place of the frame of a number: frames of other numbers have other bytes.
inline char pattern_byte(std::size_t number, std::size_t place) noexcept {
    return static_cast<char>(number * 31 + place * 7);
}

} // namespace skep::simulation

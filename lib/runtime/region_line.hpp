// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace skep {

/// The regions of memory that the host lends to one worker, which reads them. Used on the pool's strand. The
/// memory of the host ends with this object.
class region_line {
public:
    virtual ~region_line() = default;

    /// Makes a region of so many bytes, and passes it to the worker without blocking. Returns false if that
    /// is impossible now.
    virtual bool make(std::uint64_t region, std::size_t bytes) noexcept = 0;

    /// Returns the memory of a place, to be written by the host. Returns an empty span without memory for it.
    /// Preconditions: make() has made the region, and the region has the place.
    virtual std::span<std::byte> open(const region_place& place, std::size_t bytes) noexcept = 0;

    /// Returns the number of bytes that have been opened so far, each counted once.
    virtual std::uint64_t opened_bytes() const noexcept = 0;
};

} // namespace skep

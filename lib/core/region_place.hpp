// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>

namespace skep {

/// A place in a region of memory that host and worker share. Both sides name the place by its beginning: a
/// region has one attachment at a time there.
struct region_place {
    std::uint64_t region = 0; ///< number; 0: no region
    std::size_t begin = 0;    ///< in bytes, from the beginning of the region

    friend bool operator==(const region_place&, const region_place&) = default;
};

} // namespace skep

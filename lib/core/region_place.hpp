// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>

namespace skep {

/// A place in memory that host and worker share. A region has one attachment at a time there, so that both
/// sides name the place by its beginning. Sealed memory has one attachment altogether.
struct region_place {
    std::uint64_t region = 0; ///< number of the region or of the sealed memory; 0: no place
    std::size_t begin = 0;    ///< in bytes, from the beginning of the memory
    bool is_sealed = false;   ///< in sealed memory

    friend bool operator==(const region_place&, const region_place&) = default;
};

} // namespace skep

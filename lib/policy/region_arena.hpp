// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace skep {

/// The places of the regions that one side writes and the other side reads: a host lends them to a worker, or
/// a worker has them for its results. A place is reserved for the bytes of one attachment, and free again
/// once the reader has released the place: never before, so that the bytes do not change under a reader.
/// Places begin at multiples of `step` and are found by first fit. Regions double the arena, up to its
/// limits.
class region_arena {
public:
    /// A page: attachments are aligned, and the arena's records are few.
    static constexpr std::size_t step = 4096;

    /// The first region of an arena has this size, unless the limit or the attachment decides otherwise.
    static constexpr std::size_t first_region = std::size_t(1) << 20;

    region_arena(std::size_t most_bytes, std::size_t most_regions) noexcept;

    /// Reserves a place for so many bytes, 1 or more. Returns an empty optional if no region has room.
    /// Complexity: linear in the free places.
    std::optional<region_place> reserve(std::size_t bytes);

    /// Returns the size of the next region if the region is to hold so many bytes; 0 beyond the limits.
    std::size_t size_of_next(std::size_t bytes) const noexcept;

    /// Adds a region, of a size of size_of_next(). Precondition: no region has had this number.
    void add(std::uint64_t number, std::size_t size);

    /// Removes a region that could not be made. Precondition: no place of it is reserved.
    void drop(std::uint64_t number) noexcept;

    /// Releases a reserved place. Returns false if no place that begins there is reserved.
    bool release(const region_place& place) noexcept;

    /// Returns the size of all regions together.
    std::size_t size() const noexcept { return size_; }

    /// Returns the number of bytes reserved, in whole steps. Complexity: linear in the reserved places.
    std::size_t reserved() const noexcept;

private:
    /// Spans by their beginnings; adjacent free spans are merged.
    using spans = std::map<std::size_t, std::size_t>;

    struct region {
        spans free;
        spans reserved;
    };

    static spans::iterator find_room(region& owner, std::size_t bytes) noexcept;
    static void join_free(spans& free, spans::node_type released) noexcept;

    const std::size_t most_bytes_;
    const std::size_t most_regions_;
    std::map<std::uint64_t, region> regions_; ///< by number
    std::size_t size_ = 0;
};

} // namespace skep

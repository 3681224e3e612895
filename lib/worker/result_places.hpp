// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include <skep/blob.hpp>
#include <skep/shared_options.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

namespace skep {

/// The regions for results of one worker, as the host knows them: the worker's open request, the sizes, and
/// the places in use. A place is in use from the message that names the place until the worker is told of its
/// release. So a message never names the same bytes twice, and its places have at most shared_options::bytes
/// together. Performs no I/O.
class result_places {
public:
    explicit result_places(const shared_options& options) noexcept : options_(options) {}

    /// Opens the worker's request for a region of so many bytes. Throws protocol_violation for a request
    /// beyond the limits, or before the answer to the request before.
    void request(std::uint64_t bytes);

    /// Answers the open request with a region. `memory`: shows the whole region.
    void add(std::uint64_t region, blob memory);

    /// Answers the open request without a region.
    void refuse() noexcept { is_requested_ = false; }

    /// Takes a place into use: a message names the place. Returns the memory of its region. Throws
    /// protocol_violation if the place does not lie in a region, or overlaps a place in use.
    const blob& occupy(const region_place& place, std::size_t bytes);

    /// Ends the use of a place in use: the worker may write there again.
    void vacate(const region_place& place) noexcept;

    /// Removes all regions.
    void clear() noexcept { regions_.clear(); }

    /// Returns the number of places in use.
    std::size_t in_use() const noexcept { return in_use_; }

    /// Returns the bytes up to the highest place of each region so far, all regions together: the memory that
    /// the worker is known to have written.
    std::uint64_t written_bytes() const noexcept { return written_; }

private:
    struct region {
        blob memory;
        std::size_t written = 0;                 ///< the end of the highest place so far
        std::map<std::size_t, std::size_t> used; ///< the ends of the places in use, by their beginnings
    };

    const shared_options& options_;
    std::map<std::uint64_t, region> regions_; ///< by number
    std::size_t size_ = 0;                    ///< of all regions
    std::size_t in_use_ = 0;
    std::uint64_t written_ = 0;
    bool is_requested_ = false;
};

} // namespace skep

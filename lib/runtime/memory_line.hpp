// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skep {

/// The memory that the host shares with one worker: lent regions, regions for results, and sealed memory of
/// both directions. The host writes lent regions, and they end with this object. The worker writes regions
/// for results. Used on the pool's strand.
class memory_line {
public:
    virtual ~memory_line() = default;

    /// Returns the number of the next region. Numbers are never used again.
    std::uint64_t next_number() noexcept { return ++last_number_; }

    /// Makes a region of so many bytes to lend, and passes it to the worker without blocking. Returns false
    /// if that is impossible now.
    virtual bool make(std::uint64_t region, std::size_t bytes) noexcept = 0;

    /// Returns the memory of a place, to be written by the host. Returns an empty span without memory for it.
    /// Preconditions: make() has made the region, and the region has the place.
    virtual std::span<std::byte> open(const region_place& place, std::size_t bytes) noexcept = 0;

    /// Returns the number of lent bytes that have been opened so far, each counted once.
    virtual std::uint64_t opened_bytes() const noexcept = 0;

    /// Makes a region of so many bytes for results, and passes it to the worker without blocking. Returns the
    /// whole region; its last copy ends the memory of the host. Returns an empty blob if that is impossible
    /// now.
    virtual blob make_for_results(std::uint64_t region, std::size_t bytes) noexcept = 0;

    /// Tells the worker, without blocking, that it gets no region of so many bytes. Returns false if that is
    /// impossible now.
    virtual bool refuse_for_results(std::size_t bytes) noexcept = 0;

    /// Provides the memory to read the bytes of a place in a region for results, which the worker may never
    /// have written. Returns false without memory for them. Precondition: make_for_results() has made the
    /// region.
    virtual bool provide(const region_place& place, std::span<const std::byte> bytes) noexcept = 0;

    /// Passes the memory of a shared blob to the worker without blocking, as sealed memory of that number.
    /// Returns the place of the blob in its memory, or nullopt if that is impossible now or the memory has
    /// more than `most_bytes`. Numbers rise.
    virtual std::optional<region_place> pass(std::uint64_t number, const blob& bytes,
                                             std::size_t most_bytes) noexcept = 0;

    /// Returns bytes of sealed memory of the worker. Copies less than `least` bytes, and less than an eighth
    /// of the memory: the limits of messages count neither the memory nor the descriptor that they would
    /// keep. Does not wait. Memory of lower numbers is dropped. `packets`: the most packets to take from the
    /// line; reduced by their number. Throws protocol_violation if the memory has not come, is not sealed,
    /// lacks the bytes or has more than `most_bytes`. Throws std::bad_alloc.
    virtual blob take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
                      std::size_t& packets) = 0;

private:
    std::uint64_t last_number_ = 0;
};

} // namespace skep

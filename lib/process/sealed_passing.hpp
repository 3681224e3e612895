// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "process/descriptor_passing.hpp"
#include "process/descriptors.hpp"
#include "wire/memory_packets.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

namespace skep {

/// Takes the next packet of a line for shared memory, without waiting. Returns nullopt if no packet has come.
/// Throws std::bad_alloc without a free descriptor.
std::optional<message_with_descriptor> take_packet(int line);

/// Sends the memory of a shared blob over a line for shared memory, without blocking. Returns the blob's
/// place in the memory, or nullopt if the memory cannot be sent now or has more than `most_bytes`.
std::optional<region_place> pass_sealed(int line, std::uint64_t number, const blob& bytes,
                                        std::size_t most_bytes) noexcept;

/// The sealed memory that has come over a line. Messages refer to the memory in the order of its numbers, and
/// to each number at most once.
class sealed_intake {
public:
    /// The next message refers to this number: memory of lower numbers is dropped, also if it comes later.
    void expect(std::uint64_t number) noexcept;

    /// Returns the number of the last packet.
    std::uint64_t last() const noexcept { return last_; }

    /// Adds the memory of a packet. Throws protocol_violation.
    void add(const sealed_packet& packet, unique_fd descriptor);

    /// Returns bytes of the memory, for the only time. Throws protocol_violation unless the memory has come,
    /// is sealed, has at most `most_bytes` and has these bytes. Throws std::bad_alloc.
    blob take(const region_place& place, std::size_t bytes,
              std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

private:
    struct arrival {
        std::size_t bytes;
        unique_fd descriptor;
    };

    std::map<std::uint64_t, arrival> arrivals_; ///< by number
    std::uint64_t first_ = 1;                   ///< lower numbers are dropped
    std::uint64_t last_ = 0;
};

} // namespace skep

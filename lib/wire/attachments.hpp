// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "wire/frame.hpp"
#include "wire/message_members.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace skep {

/// The memory that host and worker share, seen from the receiver of attachments.
class memory_source {
public:
    /// Returns the bytes that begin at `place`. The last copy of the blob releases a place in a region, and
    /// ends sealed memory. Throws protocol_violation if no known memory has these bytes.
    virtual blob open(const region_place& place, std::size_t bytes) = 0;

    /// Begins with the attachments of another message. Returns the most bytes that they have in shared memory
    /// together.
    virtual std::size_t begin_message() noexcept = 0;

protected:
    ~memory_source() = default;
};

/// Cuts the attachments of a message out of its frame, by the member `attachments`. `memory`: opens
/// attachments in shared memory; null: a message must not have any.
std::vector<blob> to_attachments(const message_members& fields, const frame_view& frame,
                                 memory_source* memory = nullptr);

/// The attachments of a message, with the places of those in shared memory: each at its index, with no number
/// for the others; empty if all follow in the frame.
struct placed_attachments {
    placed_attachments() = default;
    placed_attachments(const std::vector<blob>& attachments, // implicit: most messages have no places
                       std::span<const region_place> their_places = {}) noexcept
        : all(attachments), places(their_places) {}

    std::span<const blob> all;
    std::span<const region_place> places;
};

/// Returns true if the attachment of that index is in shared memory: its bytes are not in the frame.
inline bool has_place(std::span<const region_place> places, std::size_t index) noexcept {
    return index < places.size() && places[index].region != 0;
}

/// The longest text of one attachment in shared memory, with a comma.
inline constexpr std::size_t longest_place = 96;

/// Appends the member `attachments`, with a comma before it.
void append_attachment_sizes(std::string& out, const placed_attachments& attachments);

/// Calls `act` with each attachment that follows in the frame.
template <class Act>
void for_each_in_frame(const placed_attachments& attachments, Act act) {
    const auto& [all, places] = attachments;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!has_place(places, i)) {
            act(all[i]);
        }
    }
}

std::size_t total_size(const std::vector<blob>& attachments) noexcept;

/// Returns the bytes of the attachments that follow in the frame.
std::size_t size_in_frame(const placed_attachments& attachments) noexcept;

} // namespace skep

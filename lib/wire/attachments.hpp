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

/// The regions of memory that a worker shares with its host, seen from the worker.
class region_source {
public:
    /// Returns the bytes that begin at `place`. The last copy of the blob releases the place. Throws
    /// protocol_violation if no known region has these bytes.
    virtual blob open(const region_place& place, std::size_t bytes) = 0;

protected:
    ~region_source() = default;
};

/// Cuts the attachments of a message out of its frame, by the member `attachments`. `regions`: opens
/// attachments in shared memory; null: a message must not have any.
std::vector<blob> to_attachments(const message_members& fields, const frame_view& frame,
                                 region_source* regions = nullptr);

/// The longest text of one attachment in shared memory, with a comma.
inline constexpr std::size_t longest_place = 96;

/// Appends the member `attachments`, with a comma before it. `places`: of the attachments in shared memory,
/// each at its index, with no region for the others; empty if all follow in the frame.
void append_attachment_sizes(std::string& out, const std::vector<blob>& attachments,
                             std::span<const region_place> places = {});

std::size_t total_size(const std::vector<blob>& attachments) noexcept;

} // namespace skep

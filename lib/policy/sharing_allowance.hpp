// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include <skep/blob.hpp>

#include <cstddef>

namespace skep {

/// The shared memory that the attachments of one message may still take.
class sharing_allowance {
public:
    explicit sharing_allowance(std::size_t most_bytes) noexcept : bytes_(most_bytes) {}

    bool has_room_for(const blob& attachment) const noexcept { return attachment.size() <= bytes_; }

    /// Returns true if the attachment may be passed on without a copy.
    bool may_pass(const blob& attachment) const noexcept { return attachment.is_shared() && sealed_ > 0; }

    /// The attachment has got the place.
    void take(const blob& attachment, const region_place& place) noexcept {
        bytes_ -= attachment.size();
        sealed_ -= place.is_sealed ? 1 : 0;
    }

private:
    /// Each attachment in sealed memory takes a descriptor of its receiver.
    static constexpr std::size_t most_sealed = 64;

    std::size_t bytes_;
    std::size_t sealed_ = most_sealed;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/region_place.hpp"
#include "server/shared_regions.hpp"
#include "wire/call_messages.hpp"
#include <skep/blob.hpp>

#include <span>
#include <vector>

namespace skep {

/// The shared memory for the attachments of a worker's messages. Used on the strand.
class answer_memory {
public:
    /// `memory` must outlive the use of this object. Until open(), all attachments go in the frame.
    void open(shared_regions& memory, const shared_limits& limits) noexcept {
        memory_ = &memory;
        limits_ = limits;
    }

    /// Passes large attachments of the next message to the host. Returns their places, each at its index, or
    /// an empty span if all attachments go in the frame. Valid until the next call.
    std::span<const region_place> place(const std::vector<blob>& attachments) {
        return memory_ == nullptr || attachments.empty() ? std::span<const region_place>()
                                                         : pass(attachments);
    }

private:
    std::span<const region_place> pass(const std::vector<blob>& attachments);

    shared_regions* memory_ = nullptr; ///< null: no memory is shared
    shared_limits limits_;
    std::vector<region_place> places_; ///< of the last message
};

} // namespace skep

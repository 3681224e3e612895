// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <span>
#include <string_view>

namespace skep {

/// The output of a worker for frames.
class frame_output {
public:
    /// Writes all pieces contiguously. Returns false if the host has closed the stream. May end the owner of
    /// the caller, and the caller with it.
    virtual bool write(std::span<const std::string_view> pieces) noexcept = 0;

    /// Returns true if a write of some bytes would not block.
    virtual bool has_room() noexcept = 0;

protected:
    ~frame_output() = default;
};

} // namespace skep

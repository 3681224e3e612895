// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/memory_line.hpp"
#include "wire/attachments.hpp"
#include "worker/place_releases.hpp"
#include "worker/result_places.hpp"
#include <skep/blob.hpp>
#include <skep/shared_options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace skep {

/// The memory that one worker writes attachments of results, chunks and tool calls into: gives regions,
/// copies or shows the attachments, and gathers the releases of their places for messages to the worker. Used
/// on the pool's strand.
class result_memory {
public:
    explicit result_memory(const shared_options& options)
        : options_(options), places_(options), releases_(std::make_shared<place_releases>()) {}

    /// Begins to give regions over the line, which must outlive their use here.
    void begin(memory_line& line) noexcept { line_ = &line; }

    /// Ends the use of the line. The memory of shown attachments lives on.
    void end() noexcept;

    /// Answers the worker's request for a region, unless the line takes nothing. Throws protocol_violation.
    void request(std::uint64_t bytes);

    /// Returns an attachment that the worker names: a copy, or the bytes themselves with
    /// shared_options::show_results. Throws protocol_violation, and std::bad_alloc without memory for a copy.
    blob open(const region_place& place, std::size_t bytes);

    /// Returns true if the worker should be told of releases.
    bool has_released() const noexcept { return releases_->has_any(); }

    /// Returns released places for the next message, at most `most`. Valid until the next call.
    std::span<const region_place> released(std::size_t most);

    /// The message with the places of the last released() is on its way.
    void keep_released() noexcept;

    /// Returns the number of bytes that the worker is known to have written.
    std::uint64_t bytes() const noexcept { return places_.written_bytes(); }

    /// Returns the number of attachments opened so far.
    std::uint64_t opened() const noexcept { return opened_; }

private:
    const shared_options& options_;
    memory_line* line_ = nullptr;
    result_places places_;
    std::shared_ptr<place_releases> releases_;
    std::vector<region_place> sending_; ///< of the last released()
    std::uint64_t opened_ = 0;
};

} // namespace skep

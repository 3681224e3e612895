// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/stream_credit.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace skep {

/// Limits how far a worker may run ahead of a stream's consumer. The worker starts with a window of credit.
/// Consumed credit returns to the worker in portions worth a message.
class stream_window {
public:
    explicit stream_window(stream_credit size) noexcept : size_(size), open_(size) {}

    const stream_credit& size() const noexcept { return size_; }

    /// Records the arrival of a chunk. Returns false if the worker had no credit for the chunk.
    bool receive(std::int64_t bytes) noexcept {
        if (is_exhausted()) {
            return false;
        }
        --open_.chunks;
        open_.bytes -= bytes;
        return true;
    }

    /// Records that the consumer has taken `taken_credit`.
    void consume(stream_credit taken_credit) noexcept {
        taken_.chunks += taken_credit.chunks;
        taken_.bytes += taken_credit.bytes;
    }

    /// Grants the worker the credit of consumed chunks, once that is half of a window.
    std::optional<stream_credit> grant() noexcept {
        if (2 * taken_.chunks < size_.chunks && 2 * taken_.bytes < size_.bytes) {
            return std::nullopt;
        }
        open_.chunks += taken_.chunks;
        open_.bytes += taken_.bytes;
        return std::exchange(taken_, {});
    }

    /// Returns true if the worker must wait for the consumer.
    bool is_exhausted() const noexcept { return open_.chunks <= 0 || open_.bytes <= 0; }

private:
    stream_credit size_;
    stream_credit open_;  ///< credit that the worker may still use
    stream_credit taken_; ///< consumed credit, not yet granted
};

} // namespace skep

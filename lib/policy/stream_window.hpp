// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/stream_credit.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace skep {

/// How far a worker may be ahead of a stream's consumer: it begins with a window of credit, and gets back what the
/// consumer has taken, in portions that are worth a message.
class stream_window {
public:
    explicit stream_window(stream_credit size) noexcept : size_(size), open_(size) {}

    const stream_credit& size() const noexcept { return size_; }

    /// A chunk has arrived. False if the worker had no credit for it.
    bool receive(std::int64_t bytes) noexcept {
        if (is_exhausted()) {
            return false;
        }
        --open_.chunks;
        open_.bytes -= bytes;
        return true;
    }

    /// The consumer has taken that.
    void consume(stream_credit taken_credit) noexcept {
        taken_.chunks += taken_credit.chunks;
        taken_.bytes += taken_credit.bytes;
    }

    /// Grants the worker what has been taken, if that is half of a window.
    std::optional<stream_credit> grant() noexcept {
        if (2 * taken_.chunks < size_.chunks && 2 * taken_.bytes < size_.bytes) {
            return std::nullopt;
        }
        open_.chunks += taken_.chunks;
        open_.bytes += taken_.bytes;
        return std::exchange(taken_, {});
    }

    /// It is up to the consumer now.
    bool is_exhausted() const noexcept { return open_.chunks <= 0 || open_.bytes <= 0; }

private:
    stream_credit size_;
    stream_credit open_;  ///< what the worker may still send
    stream_credit taken_; ///< and has not got back
};

} // namespace skep

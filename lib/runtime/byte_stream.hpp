// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace skep {

/// One connection with a worker, both ways, used on the pool's strand by one reader and one writer. Between a write
/// and its bytes there is room for descriptors, should a runtime have any to pass.
class byte_stream {
public:
    virtual ~byte_stream() = default;

    /// Takes as much as fits at once and returns how much that was; nothing if the stream is broken.
    virtual std::optional<std::size_t> try_write(std::span<const char> bytes) noexcept = 0;

    /// Returns when try_write() may take more, when the stream breaks, and after close().
    virtual asio::awaitable<void> wait_writable() = 0;

    /// Waits for bytes and puts them at the beginning of `room`; returns how many: 0 at the end of the stream, when it
    /// breaks, and after close().
    virtual asio::awaitable<std::size_t> read(std::span<char> room) = 0;

    /// The process at the other end has ended: what has arrived can still be read, then the stream ends, whoever else
    /// holds the other end open.
    virtual void hear_out() noexcept = 0;

    virtual void close() noexcept = 0;
};

} // namespace skep

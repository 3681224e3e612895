// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace skep {

/// A bidirectional connection with a worker, used on the pool's strand by one reader and one writer. A
/// runtime may pass descriptors between a write and its bytes.
class byte_stream {
public:
    virtual ~byte_stream() = default;

    /// Writes as many bytes as fit without blocking, and returns their number; std::nullopt if the stream is
    /// broken.
    virtual std::optional<std::size_t> try_write(std::span<const char> bytes) noexcept = 0;

    /// Returns when try_write() may accept more bytes, when the stream breaks, and after close().
    virtual asio::awaitable<void> wait_writable() = 0;

    /// Waits for bytes, and stores them at the beginning of `room`. Returns the number of bytes: 0 at the end
    /// of the stream, when the stream breaks, and after close().
    virtual asio::awaitable<std::size_t> read(std::span<char> room) = 0;

    /// Called after the end of the process at the other end: data that has arrived can still be read, then
    /// the stream ends, even if other processes hold the other end open.
    virtual void hear_out() noexcept = 0;

    virtual void close() noexcept = 0;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace skep {

/// What a thread of its own reads, blocking, whatever the rest of the process is doing.
class blocking_input {
public:
    /// Reads `input_fd`, and watches the end of the stream `watched_fd` meanwhile, unless that is -1. Throws std::system_error.
    blocking_input(int input_fd, int watched_fd);

    /// Blocks until bytes have come, and puts them at the beginning of `room`; returns how many: 0 at the end of either
    /// stream, nothing after interrupt().
    std::optional<std::size_t> read(std::span<char> room) noexcept;

    /// Ends read() for good, on another thread.
    void interrupt() noexcept;

private:
    int input_fd_;
    int watched_;
    unique_fd interrupted_; ///< readable from then on
};

/// A stream that several threads write to.
class shared_output {
public:
    explicit shared_output(unique_fd output_fd) noexcept : fd_(std::move(output_fd)) {}

    /// Writes all pieces, one behind the other, with nothing of other threads in between. Blocks. False if nobody reads
    /// any more.
    bool write(std::span<const std::string_view> pieces) noexcept;

    /// Whether some bytes would go without blocking.
    bool has_room() noexcept;

private:
    std::mutex mutex_;
    unique_fd fd_;
    bool is_socket_ = true; ///< until it turns out that it is not
};

} // namespace skep

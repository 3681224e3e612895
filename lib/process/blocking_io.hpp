// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "runtime/frame_output.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace skep {

/// Blocking input of a dedicated thread. interrupt() unblocks the thread.
class blocking_input {
public:
    /// Reads `input_fd`, and watches the stream `watched_fd` for its end meanwhile; -1: watches no stream.
    /// Throws std::system_error.
    blocking_input(int input_fd, int watched_fd);

    /// Blocks until bytes arrive, and stores them at the beginning of `room`. Returns the number of bytes: 0
    /// at the end of either stream, std::nullopt after interrupt().
    std::optional<std::size_t> read(std::span<char> room) noexcept;

    /// Ends the current read() and all later ones. Callable from any thread.
    void interrupt() noexcept;

private:
    int input_fd_;
    int watched_;
    unique_fd interrupted_; ///< readable after interrupt()
};

/// An output stream shared by several threads.
class shared_output final : public frame_output {
public:
    explicit shared_output(unique_fd output_fd) noexcept : fd_(std::move(output_fd)) {}

    /// Writes all pieces contiguously, without bytes of other threads in between. Blocks. Returns false if
    /// the reader has closed the stream.
    bool write(std::span<const std::string_view> pieces) noexcept override;

    bool has_room() noexcept override;

private:
    std::mutex mutex_;
    unique_fd fd_;
    bool is_socket_ = true; ///< cleared by the first ENOTSOCK
};

} // namespace skep

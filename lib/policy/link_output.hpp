// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace skep {

/// The outgoing stream of a link: the frames that wait, and the bytes that are sent but unacknowledged. The
/// stream is sent from a cursor on. After a loss, the cursor goes back to the first unacknowledged byte.
class link_output {
public:
    /// Appends a frame. Returns its number: 1, 2, ... Precondition: `frame` is not empty.
    std::uint64_t add(std::string frame);

    /// Drops the frame `number`. Returns false if a part of the frame has left, or if the frame is unknown.
    /// Complexity: linear in the frames that wait.
    bool withdraw(std::uint64_t number);

    /// Returns true if the last byte of frame `number` has left. Precondition: the frame is not withdrawn.
    bool has_left(std::uint64_t number) const noexcept { return number <= last_left_; }

    /// Returns the position of the next byte to send.
    std::uint64_t cursor() const noexcept { return cursor_; }

    // Positions: of the first unacknowledged byte, and of the first byte that has never been sent.
    std::uint64_t acknowledged() const noexcept { return acknowledged_; }
    std::uint64_t end() const noexcept { return end_; }

    /// Returns the number of bytes behind the cursor that are unacknowledged.
    std::size_t in_flight() const noexcept { return static_cast<std::size_t>(cursor_ - acknowledged_); }

    /// Returns the number of bytes from the cursor on.
    std::size_t to_send() const noexcept { return static_cast<std::size_t>(end_ - cursor_) + waiting_bytes_; }

    /// Returns the number of bytes that the stream holds in memory.
    std::size_t size() const noexcept {
        return static_cast<std::size_t>(end_ - begin()) + cut_ + waiting_bytes_;
    }

    /// Moves the cursor over the next bytes, at most `most`, and returns them. They stay valid until they are
    /// acknowledged. Precondition: to_send() and `most` are positive.
    std::string_view take(std::size_t most);

    /// Returns the number of bytes that have been taken more than once.
    std::uint64_t taken_again() const noexcept { return taken_again_; }

    /// Drops the bytes before `position`. Precondition: they have all been sent.
    void acknowledge(std::uint64_t position) noexcept;

    /// Moves the cursor back to the first unacknowledged byte. Joins small parts, so that each take() returns
    /// up to `segment` bytes.
    void go_back(std::size_t segment);

private:
    struct chunk {
        std::uint64_t begin;
        std::string bytes;

        std::uint64_t end() const noexcept { return begin + bytes.size(); }
    };
    struct waiting_frame {
        std::uint64_t number;
        std::string bytes;
    };

    std::uint64_t begin() const noexcept { return chunks_.empty() ? end_ : chunks_.front().begin; }
    std::string cut(std::size_t most);

    std::deque<chunk> chunks_;         ///< sent, from acknowledged_ to end_
    std::deque<waiting_frame> frames_; ///< not sent, or not entirely
    std::size_t cut_ = 0;              ///< bytes of the first frame that are in chunks_
    std::size_t waiting_bytes_ = 0;    ///< of frames_, without cut_
    std::uint64_t last_frame_ = 0;
    std::uint64_t last_left_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t cursor_ = 0;
    std::uint64_t end_ = 0; ///< of the bytes sent at least once
    std::uint64_t taken_again_ = 0;
};

} // namespace skep

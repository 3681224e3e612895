// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Data to send: frames as text, and between the frames large attachments, sent from their own memory.
class send_buffer {
public:
    /// Returns the text to append frames to.
    std::string& text() noexcept { return text_; }

    /// Appends a blob behind the present text. Copies a small blob.
    void append(const blob& bytes);

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return text_.size() - text_sent_ + blob_bytes_; }

    /// Returns the first bytes to send; all bytes, unless a large blob is among them.
    std::span<const char> front() const noexcept;

    /// Returns all bytes to send, in order.
    std::vector<std::string_view> pieces() const;

    /// Removes `count` sent bytes of front().
    void pop(std::size_t count) noexcept;

    /// Removes everything appended since the text had `size` bytes. Precondition: no such byte has been sent.
    void truncate(std::size_t size) noexcept;

    void clear() noexcept;

private:
    struct insertion {
        std::size_t position; ///< in text_
        blob bytes;
    };

    bool is_at_blob() const noexcept { return next_ < blobs_.size() && blobs_[next_].position == text_sent_; }

    std::string text_;
    std::vector<insertion> blobs_;
    std::size_t text_sent_ = 0;
    std::size_t next_ = 0;       ///< index in blobs_
    std::size_t blob_sent_ = 0;  ///< of the next blob
    std::size_t blob_bytes_ = 0; ///< unsent, of all blobs
};

} // namespace skep

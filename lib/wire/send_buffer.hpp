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

/// What is to be sent: frames as text, and between them large attachments, which are sent from where they are.
class send_buffer {
public:
    /// Where frames are appended.
    std::string& text() noexcept { return text_; }

    /// Sent after what the text holds by now. A small blob is copied.
    void append(const blob& bytes);

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return text_.size() - text_sent_ + blob_bytes_; }

    /// The first bytes that are to be sent; all of them, if nothing large is among them.
    std::span<const char> front() const noexcept;

    /// All bytes that are to be sent, in order.
    std::vector<std::string_view> pieces() const;

    /// So many bytes of front() are sent.
    void pop(std::size_t count) noexcept;

    /// Takes back what was appended since the text had `size` bytes, nothing of which is sent.
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
    std::size_t next_ = 0;       ///< of blobs_
    std::size_t blob_sent_ = 0;  ///< of that one
    std::size_t blob_bytes_ = 0; ///< of all blobs, that are not sent
};

} // namespace skep

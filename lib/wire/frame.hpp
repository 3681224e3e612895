// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace skep {

/// One frame: u32be frame_length (of the rest), u32be json_length, JSON text, raw payload.
struct frame_view {
    std::string_view json;
    std::span<const std::byte> payload;
    std::shared_ptr<const void> memory = {}; ///< owner of both for a large payload; null otherwise
};

struct frame_limits {
    std::size_t frame_bytes; ///< the whole frame without its first four bytes
    std::size_t json_bytes;
};

inline constexpr std::size_t frame_header_size = 8;

/// Opens a frame in `out`. Returns its offset, for end_frame() after JSON and payload are appended.
std::size_t begin_frame(std::string& out);

/// Writes the lengths of the frame that begins at `begin`, with a JSON part that ends at `json_end`.
/// `following_bytes`: bytes of the frame outside of `out`, sent from their own place.
void end_frame(std::string& out, std::size_t begin, std::size_t json_end, std::size_t following_bytes = 0);

/// Cuts a byte stream into frames, however the stream is split on arrival. Lengths are checked before memory
/// is allocated. Memory grows with the data that has arrived, not with the announced length.
class frame_decoder {
public:
    explicit frame_decoder(const frame_limits& limits);

    /// Sets the limits for frames that next() has not returned yet.
    void set_limits(const frame_limits& limits) noexcept { limits_ = limits; }

    /// Returns the space for the next bytes of the stream. Invalidates all frames returned before.
    std::span<char> prepare();

    /// Records that `count` bytes were written to the space from prepare().
    void commit(std::size_t count) noexcept;

    /// Returns the next complete frame, valid until prepare(), or nullopt. Throws protocol_violation; the
    /// stream is unusable afterwards.
    std::optional<frame_view> next();

    /// Returns true if the stream is between two frames.
    bool at_boundary() const noexcept { return begin_ == end_; }

    /// Returns the number of bytes missing from a partly arrived frame; 0 if the length is unknown.
    std::size_t missing() const noexcept { return available() < 4 ? 0 : wanted() - available(); }

    /// Returns the arrived data of the next frame, even if the data is no frame.
    std::string_view unread() const noexcept { return {buffer_.get() + begin_, available()}; }

private:
    std::size_t available() const noexcept { return end_ - begin_; }
    std::size_t wanted() const noexcept;
    void make_room(std::size_t count);
    std::shared_ptr<const void> release();

    struct free_memory {
        void operator()(char* block) const noexcept { std::free(block); }
    };

    frame_limits limits_;
    std::unique_ptr<char, free_memory> buffer_; ///< from realloc, which moves large blocks without copying
    std::shared_ptr<const void> handed_over_;   ///< memory of frames that are valid until prepare()
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

} // namespace skep

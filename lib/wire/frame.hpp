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

/// One frame: u32be frame_length (what follows), u32be json_length, JSON text, raw payload.
struct frame_view {
    std::string_view json;
    std::span<const std::byte> payload;
    std::shared_ptr<const void> memory = {}; ///< keeps both, where the payload is large; nothing otherwise
};

struct frame_limits {
    std::size_t frame_bytes; ///< the whole frame without its first four bytes
    std::size_t json_bytes;
};

inline constexpr std::size_t frame_header_size = 8;

/// Opens a frame in `out`: returns its offset, to be handed to end_frame once JSON and payload are appended.
std::size_t begin_frame(std::string& out);

/// Writes the lengths of the frame that begins at `begin` and whose JSON part ends at `json_end`. `following_bytes` bytes of it
/// are not in `out`: they are sent from where they are.
void end_frame(std::string& out, std::size_t begin, std::size_t json_end, std::size_t following_bytes = 0);

/// Cuts a byte stream into frames, whatever pieces it arrives in. Lengths are checked before memory is taken
/// for them, and memory grows with the data that has arrived, not with what is announced.
class frame_decoder {
public:
    explicit frame_decoder(const frame_limits& limits);

    /// For the frames that next() has not returned yet.
    void set_limits(const frame_limits& limits) noexcept { limits_ = limits; }

    /// Where the next bytes of the stream go. Invalidates frames returned before.
    std::span<char> prepare();

    /// `count` bytes were written to what prepare() returned.
    void commit(std::size_t count) noexcept;

    /// The next whole frame, valid until prepare(), or nothing yet. Throws protocol_violation, after which
    /// the stream is unusable.
    std::optional<frame_view> next();

    /// True if the stream stands between two frames.
    bool at_boundary() const noexcept { return begin_ == end_; }

    /// How many bytes the frame lacks of which a part has arrived; 0 if its length is not known.
    std::size_t missing() const noexcept { return available() < 4 ? 0 : wanted() - available(); }

    /// What has arrived of the next frame, also if it is none.
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
    std::shared_ptr<const void> handed_over_;   ///< where frames lie that are valid until prepare()
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

} // namespace skep

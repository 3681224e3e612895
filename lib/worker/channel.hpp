// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "runtime/byte_stream.hpp"
#include "wire/send_buffer.hpp"
#include "wire/worker_messages.hpp"
#include <skep/pool_config.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// One framed connection with a worker: decodes incoming data, and gathers outgoing frames so that many
/// frames share a write. Used on one strand, by one reader and one writer coroutine.
class channel {
public:
    channel(const strand& executor, std::unique_ptr<byte_stream> connection, const limit_options& limits);

    /// Returns the buffer for outgoing frames. flush() sends the frames.
    send_buffer& outbox() noexcept { return outbox_; }

    /// Sends as much as the stream takes at once, and leaves the rest to send_backlog().
    void flush();

    /// Waits until flush() leaves a rest, and sends a piece of the rest. Returns false when the channel is
    /// closed or broken. Called in a loop.
    asio::awaitable<bool> send_backlog();

    /// Waits for data, and reads at most `most` bytes, or the rest of the next frame if longer. Returns the
    /// number of bytes, to be passed to accept(). Not a coroutine: this is the hot path.
    asio::awaitable<std::size_t> receive(std::size_t most);

    /// Accepts the received bytes. Returns false at the end of the stream, after an error and after close().
    bool accept(std::size_t count) noexcept;

    /// Returns the next complete frame, if any; valid until receive(). Throws protocol_violation.
    std::optional<frame_view> next() { return frames_.next(); }

    /// See worker_message_decoder.
    void share(memory_source& memory) noexcept { messages_.share(memory); }

    /// Returns the message in the frame. Throws protocol_violation.
    worker_message decode(const frame_view& frame) { return messages_.decode(frame); }

    // The same in steps, for a large frame; see json_field_reader.
    void begin(const frame_view& frame) {
        large_ = frame;
        messages_.begin(frame);
    }
    bool read_on(std::size_t cost) { return messages_.read_on(cost); }
    worker_message finish() { return messages_.finish(large_); }
    const frame_view& large() const noexcept { return large_; }

    /// See worker_message_decoder.
    std::size_t cost_of(const worker_message& message, const frame_view& frame) const noexcept {
        return messages_.cost_of(message, frame);
    }

    /// Returns the data after the last frame of next(), even if the data is no frame.
    std::string_view unread() const noexcept { return frames_.unread(); }

    /// Discards all unsent data, and sends no more.
    void stop_sending() noexcept;

    /// See byte_stream::hear_out().
    void hear_out() noexcept { stream_->hear_out(); }

    void close() noexcept;
    bool is_closed() const noexcept { return closed_; }

    /// Return stream positions: the end of the appended data, and the end of the data taken by the stream.
    std::uint64_t appended() const noexcept { return sent_ + unsent(); }
    std::uint64_t sent() const noexcept { return sent_; }

    /// Returns the number of bytes that the worker has not taken yet.
    std::size_t unsent() const noexcept { return outbox_.size() + sending_.size(); }

private:
    bool send(send_buffer& buffer) noexcept;

    std::unique_ptr<byte_stream> stream_;
    frame_decoder frames_;
    worker_message_decoder messages_;
    frame_view large_; ///< the frame being read in steps
    send_buffer outbox_;
    send_buffer sending_; ///< the rest left by flush()
    std::uint64_t sent_ = 0;
    latch has_backlog_;
    bool mute_ = false;
    bool closed_ = false;
};

} // namespace skep

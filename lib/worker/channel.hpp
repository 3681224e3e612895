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

/// One framed connection with a worker: decodes what comes in, and gathers what goes out so that many frames
/// share a write. Used on one strand; one reader and one writer coroutine.
class channel {
public:
    channel(const strand& executor, std::unique_ptr<byte_stream> connection, const limit_options& limits);

    /// Where frames to be sent are appended. Nothing is sent before flush().
    send_buffer& outbox() noexcept { return outbox_; }

    /// Sends what the stream takes at once and leaves the rest to send_backlog().
    void flush();

    /// Waits until flush() could not send everything, and sends a piece of it. False when the channel is closed or
    /// broken. To be called over and over.
    asio::awaitable<bool> send_backlog();

    /// Waits for data, and takes no more than `most` bytes, or what the next frame lacks. False at the end of the stream,
    /// after an error and after close().
    asio::awaitable<bool> receive(std::size_t most);

    /// The next frame that has arrived whole, if any; valid until receive(). Throws protocol_violation.
    std::optional<frame_view> next() { return frames_.next(); }

    /// The message in it. Throws protocol_violation.
    worker_message decode(const frame_view& frame) { return messages_.decode(frame); }

    // The same in steps, for a frame that takes long; see json_field_reader.
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

    /// How many bytes the last receive() has brought.
    std::size_t received() const noexcept { return received_; }

    /// What has arrived of the frame after those that next() has returned, also if it is none.
    std::string_view unread() const noexcept { return frames_.unread(); }

    /// Sends nothing more, not even what waits to be sent.
    void stop_sending() noexcept;

    /// See byte_stream::hear_out().
    void hear_out() noexcept { stream_->hear_out(); }

    void close() noexcept;
    bool is_closed() const noexcept { return closed_; }

    /// Stream positions: the end of all that was appended, and of all that the stream has taken.
    std::uint64_t appended() const noexcept { return sent_ + unsent(); }
    std::uint64_t sent() const noexcept { return sent_; }

    /// Bytes that the worker has been too slow to take.
    std::size_t unsent() const noexcept { return outbox_.size() + sending_.size(); }

private:
    bool send(send_buffer& buffer) noexcept;

    std::unique_ptr<byte_stream> stream_;
    frame_decoder frames_;
    worker_message_decoder messages_;
    frame_view large_; ///< that is being read in steps
    std::size_t received_ = 0;
    send_buffer outbox_;
    send_buffer sending_; ///< what flush() could not send
    std::uint64_t sent_ = 0;
    latch has_backlog_;
    bool mute_ = false;
    bool closed_ = false;
};

} // namespace skep

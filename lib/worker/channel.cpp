// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/channel.hpp"

#include <algorithm>
#include <utility>

namespace skep {

channel::channel(const strand& executor, std::unique_ptr<byte_stream> connection, const limit_options& limits)
    : stream_(std::move(connection)),
      frames_({limits.frame_bytes, limits.json_bytes}),
      messages_({limits.json_depth, limits.tree_bytes}, {longest_message, limits.tool_call_bytes}),
      has_backlog_(executor) {}

void channel::flush() {
    if (mute_) {
        outbox_.clear();
    }
    if (closed_ || !sending_.empty() || outbox_.empty()) {
        return; // an active writer returns for the outbox by itself
    }
    send(outbox_); // a broken stream shows elsewhere
    if (!outbox_.empty()) {
        std::swap(sending_, outbox_);
        has_backlog_.open();
    }
}

/// Sends as much as the stream takes. Returns false if the stream is broken.
bool channel::send(send_buffer& buffer) noexcept {
    while (!buffer.empty()) {
        const auto piece = buffer.front();
        const auto count = stream_->try_write(piece);
        if (!count) {
            return false;
        }
        sent_ += *count;
        buffer.pop(*count);
        if (*count < piece.size()) {
            return true;
        }
    }
    return true;
}

asio::awaitable<bool> channel::send_backlog() {
    while (!closed_ && sending_.empty()) {
        has_backlog_.close();
        co_await has_backlog_.wait();
    }
    if (closed_) {
        co_return false;
    }
    co_await stream_->wait_writable();
    const bool is_intact = !closed_ && !mute_ && send(sending_);
    if (sending_.empty()) {
        flush();
    }
    co_return is_intact;
}

asio::awaitable<std::size_t> channel::receive(std::size_t most) {
    large_ = {};
    const auto room = frames_.prepare();
    const auto part = room.first(std::min(room.size(), std::max(most, frames_.missing())));
    return stream_->read(part);
}

bool channel::accept(std::size_t count) noexcept {
    frames_.commit(count);
    return count > 0 && !closed_;
}

void channel::stop_sending() noexcept {
    mute_ = true;
    outbox_.clear();
    sending_.clear();
}

void channel::close() noexcept {
    closed_ = true;
    stream_->close();
    has_backlog_.open();
}

} // namespace skep

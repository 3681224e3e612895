// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/channel.hpp"

namespace skep {

namespace {

constexpr std::size_t buffer_to_keep = 1u << 20;

/// One huge message must not pin its memory for ever.
void shrink(std::string& empty_buffer) {
    if (empty_buffer.capacity() > buffer_to_keep) {
        empty_buffer.shrink_to_fit();
    }
}

} // namespace

channel::channel(const strand& executor, std::unique_ptr<byte_stream> connection, const limit_options& limits)
    : stream_(std::move(connection)),
      frames_({limits.frame_bytes, limits.json_bytes}),
      messages_({limits.json_depth, limits.tree_bytes}),
      has_backlog_(executor) {}

void channel::flush() {
    if (mute_) {
        outbox_.clear();
    }
    if (closed_ || is_sending() || outbox_.empty()) {
        return; // a writer at work comes back for the outbox by itself
    }
    const auto count = stream_->try_write(outbox_).value_or(0); // that it is broken shows elsewhere
    sent_ += count;
    if (count < outbox_.size()) {
        sending_.swap(outbox_);
        sending_begin_ = count;
        has_backlog_.open();
    }
    outbox_.clear();
    shrink(outbox_);
}

asio::awaitable<bool> channel::send_backlog() {
    while (!closed_ && !is_sending()) {
        has_backlog_.close();
        co_await has_backlog_.wait();
    }
    if (closed_) {
        co_return false;
    }
    co_await stream_->wait_writable();
    const auto count = closed_ || mute_
                           ? std::nullopt
                           : stream_->try_write(std::span<const char>(sending_).subspan(sending_begin_));
    sent_ += count.value_or(0);
    sending_begin_ += count.value_or(0);
    if (!is_sending()) {
        sending_.clear();
        sending_begin_ = 0;
        shrink(sending_);
        flush();
    }
    co_return count.has_value();
}

asio::awaitable<bool> channel::receive() {
    const auto room = frames_.prepare();
    const auto count = co_await stream_->read(room);
    frames_.commit(count);
    co_return count > 0 && !closed_;
}

std::optional<worker_message> channel::next() {
    const auto frame = frames_.next();
    if (!frame) {
        return std::nullopt;
    }
    return messages_.decode(*frame);
}

void channel::stop_sending() noexcept {
    mute_ = true;
    outbox_.clear();
    sending_.clear();
    sending_begin_ = 0;
}

void channel::close() noexcept {
    closed_ = true;
    stream_->close();
    has_backlog_.open();
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/channel.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <sys/socket.h>

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

channel::channel(socket connection, const limit_options& limits)
    : socket_(std::move(connection)),
      frames_({limits.frame_bytes, limits.json_bytes}),
      messages_({limits.json_depth, limits.tree_bytes}),
      has_backlog_(socket_.get_executor()) {
    socket_.native_non_blocking(true);
}

void channel::flush() {
    if (closed_ || is_sending() || outbox_.empty()) {
        return; // a writer at work comes back for the outbox by itself
    }
    const auto count = send_now(outbox_.data(), outbox_.size());
    sent_ += count;
    if (count < outbox_.size()) {
        sending_.swap(outbox_);
        sending_begin_ = count;
        has_backlog_.open();
    }
    outbox_.clear();
    shrink(outbox_);
}

/// How much the kernel took at once; errors show up as the end of the stream on the reading side.
std::size_t channel::send_now(const char* data, std::size_t size) noexcept {
    ssize_t count = 0;
    do {
        count = ::send(socket_.native_handle(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
}

asio::awaitable<bool> channel::send_backlog() {
    while (!closed_ && !is_sending()) {
        has_backlog_.close();
        co_await has_backlog_.wait();
    }
    if (closed_) {
        co_return false;
    }
    boost::system::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    const auto rest = asio::buffer(sending_) + sending_begin_;
    const auto count = co_await socket_.async_write_some(rest, std::move(token));
    sent_ += count;
    sending_begin_ += count;
    if (!is_sending()) {
        sending_.clear();
        sending_begin_ = 0;
        shrink(sending_);
        flush();
    }
    co_return !ec;
}

asio::awaitable<bool> channel::receive() {
    boost::system::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    const auto room = frames_.prepare();
    const auto buffer = asio::buffer(room.data(), room.size());
    const auto count = co_await socket_.async_read_some(buffer, std::move(token));
    frames_.commit(count);
    co_return !ec && !closed_;
}

std::optional<worker_message> channel::next() {
    const auto frame = frames_.next();
    if (!frame) {
        return std::nullopt;
    }
    return messages_.decode(*frame);
}

void channel::close() noexcept {
    closed_ = true;
    boost::system::error_code ec;
    socket_.close(ec);
    has_backlog_.open();
}

} // namespace skep

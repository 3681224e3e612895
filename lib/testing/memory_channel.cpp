// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "testing/memory_channel.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace skep::testing {

namespace {

class host_end final : public byte_stream {
public:
    explicit host_end(std::shared_ptr<memory_channel> channel) : channel_(std::move(channel)) {}
    ~host_end() override { channel_->end(); }

    std::optional<std::size_t> try_write(std::span<const char> bytes) noexcept override {
        const bool is_written = channel_->to_worker.write({bytes.data(), bytes.size()});
        return is_written ? std::optional(bytes.size()) : std::nullopt;
    }
    asio::awaitable<void> wait_writable() override { co_return; }
    asio::awaitable<std::size_t> read(std::span<char> room) override { return channel_->to_host.read(room); }
    void hear_out() noexcept override { channel_->to_host.end(); }
    void close() noexcept override { channel_->end(); }

private:
    std::shared_ptr<memory_channel> channel_;
};

} // namespace

bool memory_pipe::write(std::string_view bytes) noexcept {
    if (has_ended_) {
        return false;
    }
    try {
        bytes_ += bytes;
        changed_.notify_all();
    } catch (const std::bad_alloc&) { // the rest of a frame would be missing
        end();
    }
    return !has_ended_;
}

asio::awaitable<std::size_t> memory_pipe::read(std::span<char> room) {
    while (bytes_.empty() && !has_ended_) {
        co_await changed_.wait();
    }
    const auto count = std::min(room.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, room.begin());
    bytes_.erase(0, count);
    co_return count;
}

void memory_pipe::end() noexcept {
    has_ended_ = true;
    changed_.notify_all();
}

std::unique_ptr<byte_stream> make_host_end(std::shared_ptr<memory_channel> channel) {
    return std::make_unique<host_end>(std::move(channel));
}

bool memory_output::write(std::span<const std::string_view> pieces) noexcept {
    if (!is_frozen_) {
        for (const auto each : pieces) {
            channel_.to_host.write(each);
        }
    }
    return true;
}

} // namespace skep::testing

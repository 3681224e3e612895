// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/byte_stream.hpp"
#include "simulation/pipe.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace skep::simulation {

/// Lets one coroutine sleep until something may have changed.
class wake {
public:
    explicit wake(const strand& executor) : timer_(executor) {}

    /// Whether to look again: false if the wait was cancelled from outside.
    asio::awaitable<bool> wait(time_point until = time_point::max());
    void notify();

private:
    timer timer_;
};

class memory_stream;

/// One channel of a worker: two pipes, and what the host's end of it sees.
struct connection {
    connection(world& in, std::size_t room, duration latency);

    /// The worker's end is gone: what it has written still arrives.
    void end_by_worker();

    std::shared_ptr<pipe> to_worker;
    std::shared_ptr<pipe> to_host;
    std::string arrived; ///< and not read yet
    bool at_end = false; ///< nothing more arrives
    bool worker_gone = false;
    bool host_closed = false;
    bool is_behind = false;     ///< the host has more than the stream took last time
    std::uint64_t consumed = 0; ///< bytes that the host has read
    memory_stream* host = nullptr;
    std::function<void(std::string_view)> on_written; ///< by the host, as its stream takes it
    std::function<void()> on_short;                   ///< the stream has not taken all that it was offered
    std::function<void()> on_consumed;
};

/// The host's end.
class memory_stream final : public byte_stream {
public:
    memory_stream(world& in, const strand& executor, std::shared_ptr<connection> to);
    ~memory_stream() override;

    std::optional<std::size_t> try_write(std::span<const char> bytes) noexcept override;
    asio::awaitable<void> wait_writable() override;
    asio::awaitable<std::size_t> read(std::span<char> room) override;
    void hear_out() noexcept override;
    void close() noexcept override;

    void wake_reader() { readable_.notify(); }
    void wake_writer() { writable_.notify(); }

private:
    std::size_t take(std::span<char> room);
    bool is_readable() const noexcept {
        return !connection_->arrived.empty() || connection_->at_end || connection_->host_closed;
    }
    bool is_writable() const noexcept {
        return connection_->to_worker->room() > 0 || connection_->worker_gone || connection_->host_closed;
    }

    world& world_;
    std::shared_ptr<connection> connection_;
    wake readable_;
    wake writable_;
};

} // namespace skep::simulation

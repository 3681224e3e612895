// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "runtime/byte_stream.hpp"
#include "runtime/frame_output.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace skep::testing {

/// One direction of a connection in memory.
class memory_pipe {
public:
    explicit memory_pipe(const strand& executor) : changed_(executor) {}

    /// Returns false after end(). Without memory for the bytes, the pipe ends.
    bool write(std::string_view bytes) noexcept;

    /// Waits for bytes. Returns their number, 0 at the end.
    asio::awaitable<std::size_t> read(std::span<char> room);

    /// Nothing more will be written.
    void end() noexcept;

private:
    std::string bytes_;
    bool has_ended_ = false;
    condition_variable changed_;
};

/// The connection of a pool with a worker in the same process. Used on the pool's strand.
struct memory_channel {
    explicit memory_channel(const strand& executor) : to_worker(executor), to_host(executor) {}

    void end() noexcept {
        to_worker.end();
        to_host.end();
    }

    memory_pipe to_worker;
    memory_pipe to_host;
};

/// Returns the pool's end.
std::unique_ptr<byte_stream> make_host_end(std::shared_ptr<memory_channel> channel);

/// The worker's end. Output after the end of the channel is lost, as the output of a killed process.
class memory_output final : public frame_output {
public:
    explicit memory_output(memory_channel& channel) noexcept : channel_(channel) {}

    bool write(std::span<const std::string_view> pieces) noexcept override;
    bool has_room() noexcept override { return true; }

    /// Loses all output from now on, as a frozen process that only SIGKILL ends.
    void freeze() noexcept { is_frozen_ = true; }

private:
    memory_channel& channel_;
    bool is_frozen_ = false;
};

} // namespace skep::testing

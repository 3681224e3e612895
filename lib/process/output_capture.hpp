// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/flood_brake.hpp"
#include "policy/rate_limit.hpp"
#include "process/child.hpp"
#include "process/line_splitter.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>

namespace skep {

/// Reads the output of one worker all the time, so that the worker never blocks on a full pipe. Forwards it
/// line by line within a rate, and keeps its end for error messages. Of a line redrawn by carriage returns,
/// such as a progress bar, forwards at most 10 states per second.
class output_capture {
public:
    /// If `output` is closed, reads only `errors`. On an exception, the caller keeps the descriptors.
    output_capture(const strand& executor, worker_id worker, const output_options& options,
                   output_handler sink, unique_fd& output, unique_fd& errors);

    /// Both read one stream until its end, or until close().
    asio::awaitable<void> read_output();
    asio::awaitable<void> read_errors();

    /// Reads the output printed so far, up to a limit, even if other processes hold the streams open.
    void drain() noexcept;

    void close() noexcept;

    /// Handles a read that failed for lack of memory: reports the failure as a line of output, and closes.
    void break_off();

    /// Returns the last output_options::tail_bytes of the output, or more: see surplus_of().
    std::string tail() const;

    /// Appends `text` to the tail as if the worker had printed it, without forwarding it.
    void add_to_tail(std::string_view text) noexcept;
    std::uint64_t lines_dropped() const noexcept { return dropped_; }

private:
    /// One of the two streams. Each stream pauses independently; both share the rate limits.
    struct stream {
        stream(const strand& executor, unique_fd& source, std::size_t line_bytes, bool is_errors);

        descriptor source;
        timer pause;
        line_splitter lines;
        bool is_stderr;
    };

    asio::awaitable<void> read(stream& source);
    asio::awaitable<void> pause_if_flooded(stream& source, std::size_t cost);
    static ssize_t read_some(stream& source, std::span<char> room) noexcept;
    void drain(stream& source, std::span<char> room);
    std::size_t consume(stream& source, std::string_view text);
    void keep_tail(std::string_view text);
    void append_to_tail(std::string_view text);
    bool offer(std::string_view line, line_end end, bool is_stderr, time_point now);
    void forward(std::string_view line, bool is_stderr, time_point now);

    worker_id worker_;
    output_options options_;
    output_handler sink_;
    stream output_;
    stream errors_;
    flood_brake brake_;
    rate_limit rate_;
    rate_limit redraws_;
    std::string tail_;
    std::size_t trim_at_ = 0;
    std::uint64_t dropped_ = 0;
    bool closed_ = false;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/flood_brake.hpp"
#include "policy/rate_limit.hpp"
#include "process/child.hpp"
#include "process/line_splitter.hpp"
#include <skep/pool_config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>

namespace skep {

/// What one worker prints: read all the time, so that it never blocks on a full pipe, handed on line by line
/// within a rate, and its end kept for error messages. Of a line that is redrawn by carriage returns, as a progress bar
/// is, at most 10 states a second are handed on.
class output_capture {
public:
    /// Without an `output`, there are errors only. Leaves the descriptors to the caller if it throws.
    output_capture(const strand& executor, worker_id worker, const output_options& options,
                   output_handler sink, unique_fd& output, unique_fd& errors);

    /// Read one stream until its end, or until close().
    asio::awaitable<void> read_output();
    asio::awaitable<void> read_errors();

    /// Takes what has been printed by now, up to a limit, however long others hold the streams open.
    void drain() noexcept;

    void close() noexcept;

    /// Reading has failed, for lack of memory: says so where the output goes, and closes.
    void break_off();

    const std::string& tail() const noexcept { return tail_; }

    /// As if it had been printed, but handed on to nobody.
    void add_to_tail(std::string_view text) noexcept;
    std::uint64_t lines_dropped() const noexcept { return dropped_; }

private:
    /// One of the two streams. Each pauses by itself, but what they may take is for both.
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
    std::uint64_t dropped_ = 0;
    bool closed_ = false;
};

} // namespace skep

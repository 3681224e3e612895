// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/output_capture.hpp"

#include "core/clock.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <vector>

namespace skep {

namespace {

// A worker that prints without pause is slowed down to about this much per pause, so that it cannot keep the
// pool's strand busy: 64 MiB/s.
constexpr std::size_t bytes_per_pause = 256u << 10;
constexpr duration pause_length = std::chrono::milliseconds(4);
constexpr std::size_t read_size = 64u << 10;

} // namespace

output_capture::output_capture(const strand& executor, worker_id worker, const output_options& options,
                               output_handler sink, unique_fd output, unique_fd errors)
    : worker_(std::move(worker)),
      options_(options),
      sink_(std::move(sink)),
      output_(executor, output.release()),
      errors_(executor, errors.release()),
      pause_(executor),
      rate_(options.lines_per_second, clock::now()) {}

asio::awaitable<void> output_capture::read_output() {
    return read(output_, false);
}

asio::awaitable<void> output_capture::read_errors() {
    return read(errors_, true);
}

asio::awaitable<void> output_capture::read(descriptor& from, bool is_stderr) {
    line_splitter lines(options_.line_bytes);
    const auto sink = [this, is_stderr](std::string_view line) { hand_on(line, is_stderr); };
    std::vector<char> piece(4096); // most workers print little; one that floods gets a larger one
    std::size_t since_pause = 0;
    auto pause_due = clock::now() + pause_length;
    while (!closed_) {
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        const auto count = co_await from.async_read_some(asio::buffer(piece), std::move(token));
        if (ec) {
            break;
        }
        keep_tail({piece.data(), count});
        lines.feed({piece.data(), count}, sink);
        if (count == piece.size() && piece.size() < read_size) {
            piece.resize(read_size);
        }
        since_pause += count;
        if (clock::now() >= pause_due) {
            since_pause = 0;
            pause_due = clock::now() + pause_length;
        }
        if (since_pause >= bytes_per_pause) {
            pause_.expires_at(pause_due);
            auto pause_token = asio::redirect_error(asio::use_awaitable, ec);
            co_await pause_.async_wait(std::move(pause_token));
        }
    }
    lines.finish(sink);
}

void output_capture::close() noexcept {
    closed_ = true;
    boost::system::error_code ec;
    output_.close(ec);
    errors_.close(ec);
    pause_.cancel();
}

void output_capture::break_off() {
    close();
    sink_(output_line{worker_, true,
                      "skep: the host is out of memory and reads no more of this worker's output"});
}

void output_capture::keep_tail(std::string_view text) {
    if (text.size() >= options_.tail_bytes) {
        tail_.assign(text.substr(text.size() - options_.tail_bytes));
        return;
    }
    if (tail_.size() + text.size() > options_.tail_bytes) {
        tail_.erase(0, tail_.size() + text.size() - options_.tail_bytes);
    }
    tail_.append(text);
}

void output_capture::hand_on(std::string_view line, bool is_stderr) {
    if (!rate_.admit(clock::now())) {
        ++dropped_;
        return;
    }
    sink_(output_line{worker_, is_stderr, line});
}

} // namespace skep

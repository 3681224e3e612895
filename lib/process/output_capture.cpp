// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/output_capture.hpp"

#include "core/clock.hpp"
#include "policy/last_output.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <unistd.h>
#include <vector>

namespace skep {

namespace {

// Limits for a worker that prints without pause, so that it cannot keep the pool's strand busy. Each line has
// a fixed cost besides its length.
constexpr std::size_t burst = 256u << 10;
constexpr std::size_t bytes_per_second = 64u << 20;
constexpr std::size_t cost_of_line = 64;
constexpr std::size_t read_size = 64u << 10;
constexpr std::size_t redraws_per_second = 10;
constexpr std::size_t least_trimmed = 4096;

// Limit per stream and drain: the maximum size of a pipe, unless root has raised it.
constexpr std::size_t most_drained = 1u << 20;

} // namespace

output_capture::stream::stream(const strand& executor, unique_fd& source, std::size_t line_bytes,
                               bool is_errors)
    : source(executor), pause(executor), lines(line_bytes), is_stderr(is_errors) {
    if (source.get() >= 0) { // otherwise reading ends at once
        this->source.assign(source.get());
        this->source.native_non_blocking(true);
        source.release(); // last: the statements above may throw
    }
}

output_capture::output_capture(const strand& executor, worker_id worker, const output_options& options,
                               output_handler sink, unique_fd& output, unique_fd& errors)
    : worker_(std::move(worker)),
      options_(options),
      sink_(std::move(sink)),
      output_(executor, output, options.line_bytes, false),
      errors_(executor, errors, options.line_bytes, true),
      brake_(burst, bytes_per_second),
      rate_(options.lines_per_second, clock::now()),
      redraws_(redraws_per_second, clock::now()) {}

asio::awaitable<void> output_capture::read_output() {
    return read(output_);
}

asio::awaitable<void> output_capture::read_errors() {
    return read(errors_);
}

asio::awaitable<void> output_capture::read(stream& source) {
    std::vector<char> piece(4096); // most workers print little; a flood gets a larger buffer
    bool more = source.source.is_open();
    while (more && !closed_) {
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await source.source.async_wait(descriptor::wait_read, std::move(token));
        const auto count = ec || closed_ ? 0 : read_some(source, piece);
        more = count != 0;
        if (count > 0) {
            const auto size = static_cast<std::size_t>(count);
            const auto line_count = consume(source, {piece.data(), size});
            if (size == piece.size() && piece.size() < read_size) {
                piece.resize(read_size);
            }
            co_await pause_if_flooded(source, size + line_count * cost_of_line);
        }
    }
    source.lines.finish([&](std::string_view line, line_end end) {
        return offer(line, end, source.is_stderr, clock::now());
    });
}

/// Returns the number of bytes; 0 at the end, negative if no bytes are available now.
ssize_t output_capture::read_some(stream& source, std::span<char> room) noexcept {
    const auto count = ::read(source.source.native_handle(), room.data(), room.size());
    return count < 0 && errno != EAGAIN && errno != EINTR ? 0 : count;
}

void output_capture::drain() noexcept {
    try {
        std::vector<char> piece(read_size);
        drain(output_, piece);
        drain(errors_, piece);
    } catch (const std::exception&) {} // out of memory: this output is lost
}

void output_capture::drain(stream& source, std::span<char> room) {
    std::size_t taken = 0;
    ssize_t count = source.source.is_open() ? 1 : 0;
    while (count > 0 && taken < most_drained) {
        count = read_some(source, room);
        if (count > 0) {
            taken += static_cast<std::size_t>(count);
            consume(source, {room.data(), static_cast<std::size_t>(count)});
        }
    }
}

/// Returns the number of lines.
std::size_t output_capture::consume(stream& source, std::string_view text) {
    std::size_t count = 0;
    const auto now = clock::now();
    keep_tail(text);
    source.lines.feed(text, [&](std::string_view line, line_end end) {
        ++count;
        return offer(line, end, source.is_stderr, now);
    });
    return count;
}

asio::awaitable<void> output_capture::pause_if_flooded(stream& source, std::size_t cost) {
    const auto now = clock::now();
    const auto go_on = brake_.charge(cost, now);
    if (go_on > now && !closed_) {
        source.pause.expires_at(go_on);
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await source.pause.async_wait(std::move(token));
    }
}

void output_capture::close() noexcept {
    closed_ = true;
    for (auto* each : {&output_, &errors_}) {
        boost::system::error_code ec;
        each->source.close(ec);
        each->pause.cancel();
    }
}

void output_capture::break_off() {
    close();
    sink_(output_line{worker_, true,
                      "skep: the host is out of memory and reads no more of this worker's output"});
}

/// Removes lines that are drawn over from the tail. Keeps "\r\n" as "\n".
void output_capture::keep_tail(std::string_view text) {
    while (!text.empty()) {
        const auto end = text.find('\r');
        const auto piece = text.substr(0, end == text.npos ? end : end + 1);
        if (!tail_.empty() && tail_.back() == '\r') {
            const bool is_drawn_over = piece.front() != '\r' && piece.front() != '\n';
            tail_.erase(is_drawn_over ? tail_.rfind('\n') + 1 : tail_.size() - 1);
        }
        append_to_tail(piece);
        text.remove_prefix(piece.size());
    }
}

/// Trims only now and then, because each trim reads and moves the whole tail.
void output_capture::append_to_tail(std::string_view text) {
    tail_.append(text);
    if (tail_.size() > trim_at_) {
        tail_.erase(0, surplus_of(tail_, options_.tail_bytes));
        trim_at_ = tail_.size() + std::max(least_trimmed, options_.tail_bytes / 2);
    }
}

std::string output_capture::tail() const {
    return tail_.substr(surplus_of(tail_, options_.tail_bytes));
}

void output_capture::add_to_tail(std::string_view text) noexcept {
    try {
        keep_tail(text);
    } catch (const std::exception&) {} // out of memory
}

/// Returns true if the line is accepted.
bool output_capture::offer(std::string_view line, line_end end, bool is_stderr, time_point now) {
    if (end == line_end::carriage_return && !redraws_.admit(now)) {
        return false;
    }
    forward(line, is_stderr, now);
    return true;
}

void output_capture::forward(std::string_view line, bool is_stderr, time_point now) {
    if (!rate_.admit(now)) {
        ++dropped_;
        return;
    }
    sink_(output_line{worker_, is_stderr, line});
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/input_lines.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h> // lint: allow linux because closed standard input is found before Asio opens anything
#include <stdexcept>
#include <sys/epoll.h> // lint: allow linux because Asio's own wait would set O_NONBLOCK
#include <unistd.h>    // lint: allow linux because Asio's own read would set O_NONBLOCK

namespace skep {

namespace asio = boost::asio;

namespace {

constexpr std::size_t longest_line = 16u << 20;

[[noreturn]] void fail() {
    throw std::runtime_error(std::string("cannot read standard input: ") + std::strerror(errno));
}

} // namespace

void require_standard_input() {
    if (::fcntl(STDIN_FILENO, F_GETFD) < 0) {
        throw std::runtime_error("standard input is closed: calls are read from there");
    }
}

input_lines::input_lines(asio::io_context& context) : readiness_(context) {
    const auto epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        fail();
    }
    readiness_.assign(epoll);
    ::epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) {
        is_always_ready_ = errno == EPERM;
        if (!is_always_ready_) {
            fail();
        }
    }
}

asio::awaitable<std::optional<std::string>> input_lines::next() {
    auto line = take_line();
    while (!line && !has_ended_) {
        auto waiting = wait();
        co_await std::move(waiting);
        if (!has_ended_) {
            receive();
        }
        line = take_line();
    }
    co_return line;
}

void input_lines::close() {
    has_ended_ = true;
    received_.clear();
    boost::system::error_code ec;
    readiness_.close(ec);
}

bool input_lines::is_terminal() noexcept {
    return ::isatty(STDIN_FILENO) == 1;
}

/// Takes a line from the received text; the rest of the text at the end of the input.
std::optional<std::string> input_lines::take_line() {
    const auto end = received_.find('\n');
    if (end == received_.npos && (!has_ended_ || received_.empty())) {
        return {};
    }
    auto line = received_.substr(0, end);
    received_.erase(0, end == received_.npos ? end : end + 1);
    return line;
}

asio::awaitable<void> input_lines::wait() {
    if (!is_always_ready_) {
        boost::system::error_code ec; // of close(), which ends the input
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await readiness_.async_wait(asio::posix::stream_descriptor::wait_read, token);
    }
}

void input_lines::receive() {
    std::array<char, 65536> part;
    const auto size = ::read(STDIN_FILENO, part.data(), part.size());
    if (size > 0 && received_.size() < longest_line) {
        received_.append(part.data(), static_cast<std::size_t>(size));
        return;
    }
    const bool is_spurious = size < 0 && (errno == EINTR || errno == EAGAIN);
    has_ended_ = !is_spurious;
}

} // namespace skep

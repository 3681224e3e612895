// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/notify_socket.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <system_error>

namespace skep {

namespace asio = boost::asio;

namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::optional<duration> read_microseconds(const std::string& text) {
    std::chrono::microseconds::rep count = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool is_whole = problem == std::errc() && end == text.data() + text.size();
    return is_whole && count > 0 ? std::optional<duration>(std::chrono::microseconds(count)) : std::nullopt;
}

} // namespace

notify_socket::notify_socket(const asio::any_io_executor& executor)
    : socket_(executor), watchdog_(read_microseconds(variable("WATCHDOG_USEC"))) {
    auto path = variable("NOTIFY_SOCKET");
    if (path.empty()) {
        return;
    }
    if (path.front() == '@') {
        path.front() = '\0'; // an abstract socket
    }
    try {
        socket_.connect(asio::local::datagram_protocol::endpoint(path));
        socket_.non_blocking(true);
    } catch (const std::exception&) { // too long, or nobody listens
        boost::system::error_code ec;
        socket_.close(ec);
    }
}

void notify_socket::send(std::string_view message) {
    if (socket_.is_open()) {
        boost::system::error_code ec;
        socket_.send(asio::buffer(message), 0, ec);
    }
}

} // namespace skep

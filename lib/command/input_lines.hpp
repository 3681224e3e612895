// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <optional>
#include <string>

namespace skep {

/// Throws std::runtime_error if standard input is closed. Preconditions: the program has opened no file, as
/// that file would take the place of standard input.
void require_standard_input();

/// Lines of standard input, read without blocking the thread. Leaves the descriptor in its mode: O_NONBLOCK
/// would reach the other programs at the same terminal.
class input_lines {
public:
    /// Throws std::runtime_error if standard input cannot be read.
    explicit input_lines(boost::asio::io_context& context);

    /// Returns the next line without its end. The last line needs no end. Returns an empty optional at the
    /// end of the input, and after close().
    boost::asio::awaitable<std::optional<std::string>> next();

    /// Ends the wait for a line.
    void close();

    /// Returns true if standard input is a terminal.
    static bool is_terminal() noexcept;

private:
    std::optional<std::string> take_line();
    boost::asio::awaitable<void> wait();
    void receive();

    boost::asio::posix::stream_descriptor readiness_; ///< an epoll instance, which has standard input
    bool is_always_ready_ = false;                    ///< a file
    bool has_ended_ = false;
    std::string received_;
};

} // namespace skep

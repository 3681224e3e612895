// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/socket_stream.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <sys/socket.h>

namespace skep {

namespace {

using socket = asio::basic_stream_socket<asio::local::stream_protocol, strand>;

class socket_stream final : public byte_stream {
public:
    explicit socket_stream(socket connection) : socket_(std::move(connection)) {
        socket_.native_non_blocking(true);
    }

    std::optional<std::size_t> try_write(std::span<const char> bytes) noexcept override {
        ssize_t count = 0;
        do {
            count = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        } while (count < 0 && errno == EINTR);
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        const bool is_full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
        return is_full ? std::optional<std::size_t>(0) : std::nullopt;
    }

    asio::awaitable<void> wait_writable() override {
        return socket_.async_wait(socket::wait_write, asio::redirect_error(asio::use_awaitable, ignored_));
    }

    // Without a coroutine of its own: this is the hot path.
    asio::awaitable<std::size_t> read(std::span<char> room) override {
        return socket_.async_read_some(asio::buffer(room.data(), room.size()),
                                       asio::redirect_error(asio::use_awaitable, ignored_));
    }

    void hear_out() noexcept override {
        boost::system::error_code ec;
        socket_.shutdown(socket::shutdown_receive, ec);
    }

    void close() noexcept override {
        boost::system::error_code ec;
        socket_.close(ec);
    }

private:
    socket socket_;
    boost::system::error_code ignored_; ///< a read of 0 bytes is enough information
};

} // namespace

std::unique_ptr<byte_stream> make_socket_stream(const strand& executor, unique_fd& fd) {
    const asio::local::stream_protocol protocol;
    socket owner(executor, protocol, fd.get());
    fd.release();
    return std::make_unique<socket_stream>(std::move(owner));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/socket_stream.hpp"

#include "async/strand_reference.hpp"
#include "async/suspended_caller.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <exception>
#include <new>
#include <sys/socket.h>
#include <utility>

namespace skep {

// In no unnamed namespace: it gives coroutines of Asio their type, and these have linkage.
class socket_stream final : public byte_stream {
    using socket = asio::basic_stream_socket<asio::local::stream_protocol, strand_reference>;

public:
    socket_stream(const strand& executor, int descriptor)
        : executor_(executor),
          socket_(strand_reference(executor_), asio::local::stream_protocol(), descriptor) {}

    /// To be called before any other function.
    void begin() { socket_.native_non_blocking(true); }

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

    // The hot path. The handler of a coroutine would have the erased executor of the coroutine, and would be
    // called through it, at twice the cost.
    asio::awaitable<std::size_t> read(std::span<char> room) override {
        return suspend<std::size_t>([this, room](completion<std::size_t> reader) {
            reader_ = std::move(reader);
            begin_read(room);
        });
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
    /// The handler of a read. Like any handler, destroys the waiting coroutine if it is destroyed uncalled.
    class read_handler {
    public:
        using executor_type = strand_reference;
        using cancellation_slot_type = asio::cancellation_slot;

        explicit read_handler(socket_stream& stream) noexcept : stream_(&stream) {}
        read_handler(read_handler&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
        read_handler& operator=(read_handler&&) = delete;
        ~read_handler() {
            if (stream_ != nullptr && stream_->is_reading_) {
                const auto never_resumed = std::move(stream_->reader_);
            }
        }

        executor_type get_executor() const noexcept { return stream_->socket_.get_executor(); }
        cancellation_slot_type get_cancellation_slot() const noexcept {
            return stream_->reader_.get_cancellation_slot();
        }

        void operator()(boost::system::error_code, std::size_t count) {
            std::exchange(stream_, nullptr)->end_read(count);
        }

    private:
        socket_stream* stream_;
    };

    void begin_read(std::span<char> room) noexcept {
        try {
            socket_.async_read_some(asio::buffer(room.data(), room.size()), read_handler(*this));
            is_reading_ = true;
        } catch (const std::bad_alloc&) {
            reader_.fail(lazy_error(std::current_exception()));
        }
    }

    /// A count of 0 is enough information about an error.
    void end_read(std::size_t count) {
        is_reading_ = false;
        auto reader = std::move(reader_);
        reader(lazy_error(), std::move(count));
    }

    strand executor_;
    socket socket_;
    boost::system::error_code ignored_;
    completion<std::size_t> reader_; ///< waits for a read
    bool is_reading_ = false;        ///< the socket has the handler
};

std::unique_ptr<byte_stream> make_socket_stream(const strand& executor, unique_fd& fd) {
    auto made = std::make_unique<socket_stream>(executor, fd.get());
    fd.release();
    made->begin();
    return made;
}

} // namespace skep

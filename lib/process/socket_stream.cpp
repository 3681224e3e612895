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
#include <memory>
#include <new>
#include <sys/socket.h>
#include <utility>

namespace skep {

// In no unnamed namespace: it gives coroutines of Asio their type, and these have linkage.
class socket_stream final : public byte_stream {
    using socket = asio::basic_stream_socket<asio::local::stream_protocol, strand_reference>;

public:
    /// Takes the descriptor, unless the constructor throws before it owns a socket.
    socket_stream(const strand& executor, unique_fd& fd)
        : state_(std::make_shared<state>(executor)),
          socket_(strand_reference(state_->executor), asio::local::stream_protocol(), fd.get()) {
        fd.release();
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
        const auto keep = state_;
        boost::system::error_code ignored;
        auto token = asio::redirect_error(asio::use_awaitable, ignored);
        co_await socket_.async_wait(socket::wait_write, std::move(token));
    }

    // The hot path. The handler of a coroutine would have the erased executor of the coroutine, and would be
    // called through it, at twice the cost.
    asio::awaitable<std::size_t> read(std::span<char> room) override {
        return suspend<std::size_t>([this, room](completion<std::size_t> reader) {
            state_->reader = std::move(reader);
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
    /// Shared with the handler of a read, which may outlive the stream.
    struct state {
        explicit state(const strand& executor_of_pool) : executor(executor_of_pool) {}

        strand executor;
        completion<std::size_t> reader; ///< waits for a read
        bool is_reading = false;        ///< the socket has the handler
    };

    /// The handler of a read. Like any handler, destroys the waiting coroutine if it is destroyed uncalled.
    class read_handler {
    public:
        using executor_type = strand_reference;
        using cancellation_slot_type = asio::cancellation_slot;

        explicit read_handler(std::shared_ptr<state> stream_state) noexcept
            : state_(std::move(stream_state)) {}
        read_handler(read_handler&&) noexcept = default;
        read_handler& operator=(read_handler&&) = delete;
        ~read_handler() {
            if (state_ && state_->is_reading) {
                take_reader();
            }
        }

        executor_type get_executor() const noexcept { return strand_reference(state_->executor); }
        cancellation_slot_type get_cancellation_slot() const noexcept {
            return state_->reader.get_cancellation_slot();
        }

        /// A count of 0 is enough information about an error.
        void operator()(boost::system::error_code, std::size_t count) {
            take_reader()(lazy_error(), std::move(count));
        }

    private:
        completion<std::size_t> take_reader() noexcept {
            const auto last = std::move(state_);
            last->is_reading = false;
            return std::move(last->reader);
        }

        std::shared_ptr<state> state_;
    };

    void begin_read(std::span<char> room) noexcept {
        try {
            socket_.async_read_some(asio::buffer(room.data(), room.size()), read_handler(state_));
            state_->is_reading = true;
        } catch (const std::bad_alloc&) {
            state_->reader.fail(lazy_error(std::current_exception()));
        }
    }

    const std::shared_ptr<state> state_;
    socket socket_;
};

std::unique_ptr<byte_stream> make_socket_stream(const strand& executor, unique_fd& fd) {
    return std::make_unique<socket_stream>(executor, fd);
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"
#include <skep/redis_sessions.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace skep::test {

/// In a Redis server's place, on a thread of its own: answers each command with the bytes that the test
/// chooses. It keeps its connections until it is destroyed.
class redis_liar {
public:
    struct answer {
        std::string bytes;       ///< empty: silence
        bool is_last = false;    ///< closes the connection
        bool is_endless = false; ///< sends the bytes again and again
    };
    /// Given the command as it came, on the liar's thread.
    using script = std::function<answer(const std::string& command)>;

    explicit redis_liar(script answers, bool reads = true) : answers_(std::move(answers)), reads_(reads) {
        asio::co_spawn(context_, accept(), [](const std::exception_ptr&) {});
        thread_ = std::thread([this] { context_.run(); });
    }
    ~redis_liar() {
        context_.stop();
        thread_.join();
    }
    redis_liar(const redis_liar&) = delete;
    redis_liar& operator=(const redis_liar&) = delete;

    /// How to reach it, with so much patience that no test can end by that.
    redis_options options() const {
        redis_options where;
        where.port = acceptor_.local_endpoint().port();
        where.connect_timeout = 10min;
        where.operation_timeout = 10min;
        return where;
    }

    /// Sends bytes to all that are connected.
    void send(const std::string& bytes) {
        asio::post(context_, [this, bytes] {
            for (auto& each : peers_) {
                boost::system::error_code ignored;
                asio::write(*each, asio::buffer(bytes), ignored);
            }
        });
    }

    int connections() const noexcept { return connections_; }
    int commands() const noexcept { return commands_; }

    /// How many peers have closed their connection.
    int departures() const noexcept { return departures_; }

    std::string received() const {
        const std::lock_guard lock(guard_);
        return received_;
    }

private:
    using socket = asio::ip::tcp::socket;

    asio::awaitable<void> accept() {
        for (;;) {
            auto fresh = std::make_shared<socket>(context_);
            co_await acceptor_.async_accept(*fresh, asio::use_awaitable);
            peers_.push_back(fresh);
            ++connections_;
            if (reads_) {
                asio::co_spawn(context_, serve(fresh), [this](const std::exception_ptr&) { ++departures_; });
            }
        }
    }

    asio::awaitable<void> serve(std::shared_ptr<socket> peer) {
        std::string unread;
        std::array<char, 65'536> room;
        for (;;) {
            const auto into = asio::buffer(room);
            const auto count = co_await peer->async_read_some(into, asio::use_awaitable);
            unread.append(room.data(), count);
            {
                const std::lock_guard lock(guard_);
                received_.append(room.data(), count);
            }
            for (auto length = command_length(unread); length > 0; length = command_length(unread)) {
                ++commands_;
                const auto next = answers_(unread.substr(0, length));
                unread.erase(0, length);
                do {
                    const auto bytes = asio::buffer(next.bytes);
                    co_await asio::async_write(*peer, bytes, asio::use_awaitable);
                } while (next.is_endless);
                if (next.is_last) {
                    peer->close();
                    co_return;
                }
            }
        }
    }

    /// 0 if the first command has not come in full.
    static std::size_t command_length(const std::string& bytes) {
        std::size_t at = 0;
        const auto number = [&](char mark) -> long {
            const auto end = bytes.find("\r\n", at);
            if (at >= bytes.size() || bytes[at] != mark || end == std::string::npos) {
                return -1;
            }
            const auto value = std::stol(bytes.substr(at + 1, end - at - 1));
            at = end + 2;
            return value;
        };
        for (auto words = number('*'); words != 0; --words) {
            const auto length = words < 0 ? -1 : number('$');
            if (length < 0 || bytes.size() < at + static_cast<std::size_t>(length) + 2) {
                return 0;
            }
            at += static_cast<std::size_t>(length) + 2;
        }
        return at;
    }

    const script answers_;
    const bool reads_;
    mutable std::mutex guard_;
    std::string received_;
    std::atomic<int> connections_{0};
    std::atomic<int> commands_{0};
    std::atomic<int> departures_{0};
    asio::io_context context_{1};
    asio::ip::tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
    std::list<std::shared_ptr<socket>> peers_;
    std::thread thread_;
};

} // namespace skep::test

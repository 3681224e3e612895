// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"
#include <skep/admin.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace skep::test {

using asio::ip::tcp;

inline const std::string good_token = "0123456789abcdef";

/// For so long, an answer may be that of an earlier look at the pools.
inline constexpr auto a_moment = 250ms;

/// A connection of a client's.
class client {
public:
    explicit client(const asio::any_io_executor& executor) : socket_(executor) {}

    asio::awaitable<void> connect(unsigned short port) {
        const tcp::endpoint there(asio::ip::address_v4::loopback(), port);
        co_await socket_.async_connect(there, asio::use_awaitable);
    }

    asio::awaitable<void> send(std::string text) {
        const auto buffer = asio::buffer(text);
        co_await asio::async_write(socket_, buffer, asio::use_awaitable);
    }

    /// What has come up to `end`, that included, or until the server has closed.
    asio::awaitable<std::string> read_until(std::string end) {
        boost::system::error_code ec;
        auto into = asio::dynamic_buffer(received_);
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        const std::size_t size = co_await asio::async_read_until(socket_, into, end, token);
        auto taken = received_.substr(0, ec ? received_.size() : size);
        received_.erase(0, taken.size());
        co_return taken;
    }

    void close() { socket_.close(); }

    asio::awaitable<std::string> read_all() {
        boost::system::error_code ec;
        auto into = asio::dynamic_buffer(received_);
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await asio::async_read(socket_, into, asio::transfer_all(), token);
        co_return std::exchange(received_, {});
    }

private:
    tcp::socket socket_;
    std::string received_;
};

/// The whole response to a request that is all there is to be on its connection.
inline asio::awaitable<std::string> ask(unsigned short port, std::string request) {
    const auto executor = co_await asio::this_coro::executor;
    client one(executor);
    co_await one.connect(port);
    co_await one.send(std::move(request));
    std::string response = co_await one.read_all();
    co_return response;
}

inline asio::awaitable<std::string> get(unsigned short port, std::string path) {
    std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string response = co_await ask(port, std::move(request));
    co_return response;
}

inline asio::awaitable<std::string> post(unsigned short port, std::string path, std::string body = "",
                                         std::string with_token = good_token) {
    std::string request =
        "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer " +
        with_token + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    std::string response = co_await ask(port, std::move(request));
    co_return response;
}

inline std::string status_line(const std::string& response) {
    return response.substr(0, response.find("\r\n"));
}

inline std::string body_of(const std::string& response) {
    const auto end = response.find("\r\n\r\n");
    return end == std::string::npos ? "" : response.substr(end + 4);
}

inline admin_options changeable() {
    admin_options options;
    options.token = good_token;
    return options;
}

/// A pool with its page; `body(pool, port)` is a coroutine.
template <class Body>
void with_page(pool_config config, admin_options options, Body body) {
    with_pool(quick(std::move(config)), [&](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        admin_server admin(executor, workers, options);
        co_await body(workers, admin.port());
        co_await admin.stop();
    });
}

} // namespace skep::test

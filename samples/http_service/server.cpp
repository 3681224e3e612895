// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server.hpp"

#include "routes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <iostream>

namespace http_service {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr std::size_t longest_body = 16u << 20;
constexpr std::chrono::seconds patience(30);

asio::awaitable<http_response> refuse_body() {
    co_return http_response(http::status::payload_too_large, 11);
}

/// One connection, request by request.
asio::awaitable<void> converse(skep::pool& pool, tcp::socket socket) {
    beast::tcp_stream stream(std::move(socket));
    stream.socket().set_option(tcp::no_delay(true));
    beast::flat_buffer buffer;
    for (bool more = true; more;) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(longest_body);
        stream.expires_after(patience);
        boost::system::error_code ec;
        auto token = asio::redirect_error(use_awaitable, ec);
        co_await http::async_read(stream, buffer, parser, token);
        if (ec && ec != http::error::body_limit) {
            co_return; // the client has gone, or speaks something else
        }
        auto responding = ec ? refuse_body() : respond(pool, parser.get());
        auto response = co_await std::move(responding);
        more = !ec && parser.get().keep_alive();
        response.keep_alive(more);
        response.prepare_payload();
        stream.expires_after(patience);
        co_await http::async_write(stream, response, use_awaitable);
    }
}

} // namespace

asio::awaitable<void> serve(skep::pool& pool, unsigned short port) {
    const auto executor = co_await asio::this_coro::executor;
    const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
    tcp::acceptor acceptor(executor, here);
    std::cout << "listening on port " << acceptor.local_endpoint().port() << std::endl;
    for (;;) {
        boost::system::error_code ec;
        auto token = asio::redirect_error(use_awaitable, ec);
        tcp::socket socket = co_await acceptor.async_accept(token);
        if (ec) { // too many are open, as a rule
            asio::steady_timer pause(executor, std::chrono::milliseconds(100));
            co_await pause.async_wait(use_awaitable);
            continue;
        }
        asio::co_spawn(executor, converse(pool, std::move(socket)),
                       asio::detached); // a lost connection is no news
    }
}

} // namespace http_service

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server.hpp"

#include "event_stream.hpp"
#include "routes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_connections = 800; // descriptors are for workers, too
constexpr std::size_t longest_body = 16u << 20;
constexpr auto longest_silence = 30s; // of a client, for a request or for taking its answer
constexpr auto last_chance = 1s;      // for requests on connections that were idle when the drain began

} // namespace

server::server(const asio::any_io_executor& executor, const tcp::endpoint& where, skep::pool_manager& pools)
    : pools_(pools),
      acceptor_(executor, where),
      port_(acceptor_.local_endpoint().port()),
      last_has_ended_(executor) {}

void server::begin() {
    if (acceptor_.is_open()) {
        asio::co_spawn(acceptor_.get_executor(), accept(), asio::detached);
    }
}

asio::awaitable<void> server::accept() {
    asio::steady_timer pause(acceptor_.get_executor());
    while (acceptor_.is_open()) {
        boost::system::error_code ec = asio::error::no_descriptors;
        if (connections_.size() < most_connections) {
            auto token = redirect_error(use_awaitable, ec);
            tcp::socket socket = co_await acceptor_.async_accept(token);
            if (!ec) {
                admit(std::move(socket));
            }
        }
        if (ec && acceptor_.is_open()) { // too many are open, as a rule
            pause.expires_after(20ms);
            co_await pause.async_wait(use_awaitable);
        }
    }
}

void server::admit(tcp::socket socket) {
    boost::system::error_code ec;
    socket.set_option(tcp::no_delay(true), ec);
    connections_.push_back(std::make_shared<connection>(std::move(socket)));
    asio::co_spawn(acceptor_.get_executor(), converse(connections_.back()), asio::detached);
}

/// One connection, until it ends in whatever way.
asio::awaitable<void> server::converse(connection_ptr with) {
    try {
        co_await serve(*with);
    } catch (const std::exception&) {} // a lost connection is no news
    connections_.remove(with);
    if (connections_.empty()) {
        last_has_ended_.cancel();
    }
}

asio::awaitable<void> server::serve(connection& with) {
    bool more = true;
    while (more && !(is_over_ && with.buffer.size() == 0)) {
        co_await wait_for_request(with);
        more = co_await serve_request(with);
    }
}

/// Returns when it has begun to come.
asio::awaitable<void> server::wait_for_request(connection& with) {
    if (with.buffer.size() == 0) {
        with.is_idle = true;
        with.stream.expires_after(longest_silence);
        const auto room = with.buffer.prepare(4096);
        const auto count = co_await with.stream.async_read_some(room, use_awaitable);
        with.buffer.commit(count);
    }
    with.is_idle = false;
}

/// False if it is the last one.
asio::awaitable<bool> server::serve_request(connection& with) {
    request_parser parser;
    parser.body_limit(longest_body);
    const auto problem = co_await read(with, parser);
    if (problem == http::error::body_limit) {
        co_await refuse_body(with);
    }
    if (problem) {
        co_return false; // else the client has gone, or speaks something else
    }
    const auto& request = parser.get();
    with.stream.expires_never();
    if (request.method() == http::verb::post && request.target() == "/generate") {
        co_await generate(pools_, with.stream, request);
        co_return false;
    }
    auto responding = respond(pools_, request);
    auto response = co_await std::move(responding);
    auto sending = send(with, request, std::move(response));
    const bool more = co_await std::move(sending);
    co_return more;
}

asio::awaitable<boost::system::error_code> server::read(connection& with, request_parser& into) {
    with.stream.expires_after(longest_silence);
    boost::system::error_code ec;
    auto head = redirect_error(use_awaitable, ec);
    co_await http::async_read_header(with.stream, with.buffer, into, head);
    if (!ec && beast::iequals(into.get()[http::field::expect], "100-continue")) {
        http::response<http::empty_body> go_on(http::status::continue_, 11);
        auto word = redirect_error(use_awaitable, ec);
        co_await http::async_write(with.stream, go_on, word);
    }
    if (!ec) {
        auto body = redirect_error(use_awaitable, ec);
        co_await http::async_read(with.stream, with.buffer, into, body);
    }
    co_return ec;
}

/// And reads on for a while: to close a connection on which more is to come would take the answer back.
asio::awaitable<void> server::refuse_body(connection& with) {
    auto response = make_response(http::status::payload_too_large, "text/plain", "the body is too long\n");
    response.keep_alive(false);
    response.prepare_payload();
    with.stream.expires_after(longest_silence);
    co_await http::async_write(with.stream, response, use_awaitable);
    boost::system::error_code ec;
    with.stream.socket().shutdown(tcp::socket::shutdown_send, ec);
    with.stream.expires_after(2s);
    while (!ec) {
        with.buffer.clear();
        const auto room = with.buffer.prepare(65'536);
        auto token = redirect_error(use_awaitable, ec);
        co_await with.stream.async_read_some(room, token);
    }
}

/// False if that was the last answer on this connection.
asio::awaitable<bool> server::send(connection& with, const http_request& asked, http_response response) {
    const bool may_go_on = !is_draining_ || with.buffer.size() > 0;
    response.version(asked.version());
    response.keep_alive(asked.keep_alive() && may_go_on);
    response.prepare_payload();
    if (asked.method() == http::verb::head) {
        response.body().clear(); // but for its length
    }
    with.stream.expires_after(longest_silence);
    co_await http::async_write(with.stream, response, use_awaitable);
    co_return response.keep_alive();
}

asio::awaitable<bool> server::drain(std::chrono::seconds grace) {
    const auto limit = steady_clock::now() + grace;
    is_draining_ = true;
    accept_backlog();
    boost::system::error_code ec;
    acceptor_.close(ec);
    co_await asio::post(acceptor_.get_executor(), use_awaitable); // what was accepted is admitted by then
    co_await wait_for_last(std::min(limit, steady_clock::now() + last_chance));
    is_over_ = true;
    for (auto& each : connections_) {
        if (each->is_idle) {
            each->stream.close();
        }
    }
    co_await wait_for_last(limit);
    co_return connections_.empty();
}

asio::awaitable<void> server::cut_off() {
    co_await wait_for_last(steady_clock::now() + last_chance);
    for (auto& each : connections_) {
        each->stream.close();
    }
}

/// Those whose connections the kernel has taken for us are not to be turned away.
void server::accept_backlog() {
    boost::system::error_code ec;
    acceptor_.non_blocking(true, ec);
    while (!ec || ec == asio::error::connection_aborted) {
        tcp::socket socket(acceptor_.get_executor());
        acceptor_.accept(socket, ec);
        if (!ec) {
            admit(std::move(socket));
        }
    }
}

asio::awaitable<void> server::wait_for_last(steady_clock::time_point limit) {
    while (!connections_.empty() && steady_clock::now() < limit) {
        last_has_ended_.expires_at(limit);
        boost::system::error_code ec;
        auto token = redirect_error(use_awaitable, ec);
        co_await last_has_ended_.async_wait(token);
    }
}

} // namespace gateway

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/admin_core.hpp"

#include "async/pause.hpp"
#include "core/clock.hpp"
#include "core/config_problems.hpp"
#include "core/counted.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <chrono>
#include <utility>

namespace skep {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t longest_head = 8u << 10;
constexpr std::uint64_t longest_body = 4u << 10;
constexpr std::size_t most_buffered = longest_head + longest_body + (4u << 10);
constexpr auto patience = 10s; // for silent clients and slow readers
constexpr auto pause_after_failed_accept = 100ms;

/// Returns the endpoint to listen on. Throws error(invalid_config) if an option breaks its rule.
tcp::endpoint endpoint_of(const admin_options& options) {
    options.validate();
    return {asio::ip::make_address(options.address), options.port};
}

tcp::acceptor listen(const strand& executor, const tcp::endpoint& address) {
    try {
        return tcp::acceptor(asio::any_io_executor(executor), address);
    } catch (const boost::system::system_error& failure) {
        config_problems problems;
        problems.add("port", std::to_string(address.port()),
                     "nothing can listen on " + address.address().to_string() +
                         " there: " + failure.code().message());
        problems.raise();
        throw;
    }
}

/// Returns an answer for a request that cannot be read; std::nullopt if the client is gone.
std::optional<http_response> complaint(const boost::system::error_code& ec, bool has_head) {
    if (ec == http::error::header_limit || (ec == http::error::buffer_overflow && !has_head)) {
        return text_response(http::status::request_header_fields_too_large, "the head is too long\n");
    }
    if (ec == http::error::body_limit || ec == http::error::buffer_overflow) {
        return text_response(http::status::payload_too_large, "the body is too long\n");
    }
    if (ec == http::error::bad_transfer_encoding) {
        return text_response(http::status::bad_request,
                             "a body needs a Content-Length here, and no chunks\n");
    }
    const bool is_malformed = ec.category() == make_error_code(http::error::bad_method).category() &&
                              ec != http::error::end_of_stream && ec != http::error::partial_message;
    return is_malformed ? std::optional(text_response(http::status::bad_request, "this is no HTTP request\n"))
                        : std::nullopt;
}

/// Reads on for a limited time and size, because closing a connection with unread data would discard the last
/// answer. (Beast's async_teardown reads as long as the client sends, and does not yield.)
asio::awaitable<void> end_politely(beast::tcp_stream& stream) {
    constexpr std::size_t most_ignored = 256u << 10;
    std::array<char, 4096> ignored;
    boost::system::error_code ec;
    stream.socket().shutdown(tcp::socket::shutdown_send, ec);
    stream.expires_after(1s);
    for (std::size_t sum = 0; !ec && sum < most_ignored;) {
        const auto room = asio::buffer(ignored);
        auto token = redirect_error(use_awaitable, ec);
        const std::size_t count = co_await stream.async_read_some(room, token);
        sum += count;
    }
}

} // namespace

admin_server::core::core(const asio::any_io_executor& executor, std::function<pool_access::listing()> pools,
                         event_bus& events, admin_options options)
    : executor_(executor),
      options_(std::move(options)),
      pools_(std::move(pools), events, options_.node),
      answers_(std::make_shared<remote_runner>(executor_)),
      survey_(executor_, pools_, answers_),
      news_(executor_, pools_, survey_, !options_.token.empty()),
      acceptor_(listen(executor_, endpoint_of(options_))),
      endpoint_(acceptor_.local_endpoint()),
      tasks_(executor_, [](const std::exception_ptr&) {}), // a lost connection needs no report
      room_(executor_) {}

admin_server::core::connection::connection(tcp::socket socket)
    : stream(std::move(socket)), buffer(most_buffered) {}

void admin_server::core::begin() {
    asio::post(executor_, [self = shared_from_this()] {
        self->tasks_.spawn(self, self->accept_all());
        self->tasks_.spawn(self, self->news_.run(self));
    });
}

void admin_server::core::end() {
    pools_.forget();
    answers_->close();
    asio::post(executor_, [self = shared_from_this()] { self->close(); });
}

void admin_server::core::close() {
    boost::system::error_code ec;
    acceptor_.close(ec);
    news_.end();
    tasks_.cancel();
}

/// Continues after failures for lack of memory.
asio::awaitable<void> admin_server::core::accept_all() {
    while (acceptor_.is_open()) {
        bool has_failed = false;
        try {
            co_await accept_one();
        } catch (const std::exception&) {
            has_failed = true;
        }
        if (has_failed && acceptor_.is_open()) {
            co_await pause_until(executor_, clock::now() + pause_after_failed_accept);
        }
    }
}

asio::awaitable<void> admin_server::core::accept_one() {
    boost::system::error_code ec;
    auto token = redirect_error(use_awaitable, ec);
    tcp::socket socket = co_await acceptor_.async_accept(token);
    if (ec) { // usually too many open descriptors
        co_await pause_until(executor_, clock::now() + pause_after_failed_accept);
        co_return;
    }
    co_await wait_for_room();
    if (acceptor_.is_open()) { // it may have been closed meanwhile
        admit(std::move(socket));
    }
}

/// Waits until a connection gives way. While all connections are busy, a new client waits instead of being
/// rejected, because answers are fast.
asio::awaitable<void> admin_server::core::wait_for_room() {
    while (connections_.size() >= options_.connections && !make_room()) {
        co_await room_.wait();
    }
}

/// Closes the connection that has been idle longest. Returns false if all are busy.
bool admin_server::core::make_room() {
    auto* const idle = connections_.longest_idle();
    if (idle == nullptr) {
        return false;
    }
    connections_.remove(*idle);
    static_cast<connection&>(*idle).stream.close();
    return true;
}

void admin_server::core::admit(tcp::socket socket) {
    boost::system::error_code ec;
    socket.set_option(tcp::no_delay(true), ec);
    const auto fresh = std::make_shared<connection>(std::move(socket));
    connections_.add(*fresh);
    try {
        tasks_.spawn(shared_from_this(), converse(fresh));
    } catch (...) { // out of memory
        connections_.remove(*fresh);
        throw;
    }
}

/// Serves one connection until it ends for any reason.
asio::awaitable<void> admin_server::core::converse(connection_ptr new_connection) {
    try {
        co_await serve_requests(*new_connection);
    } catch (const std::exception&) {} // cancelled, or out of memory
    forget(*new_connection);
}

void admin_server::core::forget(connection& ended_connection) {
    ended_connection.stream.close();
    connections_.remove(ended_connection);
    room_.notify_all();
}

asio::awaitable<void> admin_server::core::serve_requests(connection& peer) {
    bool more = true;
    while (more) {
        more = co_await serve_request(peer);
    }
    co_await end_politely(peer.stream);
}

/// Serves one request. Returns false if it was the last one.
asio::awaitable<bool> admin_server::core::serve_request(connection& peer) {
    request_parser parser;
    parser.header_limit(longest_head);
    parser.body_limit(longest_body);
    peer.stream.expires_after(patience);
    const auto ec = co_await read(peer, parser);
    if (ec) {
        auto refusal = complaint(ec, parser.is_header_done());
        if (refusal) {
            refusal->keep_alive(false);
            refusal->prepare_payload();
            co_await send(peer, std::move(*refusal));
        }
        co_return false;
    }
    connections_.begin_work(peer);
    bool more = co_await answer(peer, parser.get());
    co_return more;
}

asio::awaitable<boost::system::error_code> admin_server::core::read(connection& source,
                                                                    request_parser& parser) {
    boost::system::error_code ec;
    auto head = redirect_error(use_awaitable, ec);
    co_await http::async_read_header(source.stream, source.buffer, parser, head);
    if (!ec && parser.get().count(http::field::transfer_encoding) > 0) {
        ec = http::error::bad_transfer_encoding; // Beast takes an unknown coding for an absent body
    }
    if (!ec) {
        auto body = redirect_error(use_awaitable, ec);
        co_await http::async_read(source.stream, source.buffer, parser, body);
    }
    co_return ec;
}

asio::awaitable<bool> admin_server::core::answer(connection& peer, const http_request& query) {
    const auto address = endpoint_.address();
    const admin_resources resources{options_, address.is_loopback(), pools_, survey_, answers_, executor_};
    std::optional<http_response> response;
    if (is_for_events(query)) {
        response = refusal_of_events(resources, query, pages_);
        if (!response) {
            co_await send_events(peer);
            co_return false;
        }
    } else {
        peer.stream.expires_never(); // changes may take long
        auto made = co_await respond(resources, query);
        response = std::move(made);
    }
    response->version(query.version());
    response->keep_alive(query.keep_alive());
    response->prepare_payload();
    if (query.method() == http::verb::head) {
        response->body().clear(); // keeps the length
    }
    bool more = co_await send(peer, std::move(*response));
    co_return more;
}

/// Sends an answer. Returns false if it was the last one on this connection.
asio::awaitable<bool> admin_server::core::send(connection& target, http_response response) {
    connections_.end_work(target);
    room_.notify_all();
    target.stream.expires_after(patience);
    boost::system::error_code ec;
    auto token = redirect_error(use_awaitable, ec);
    co_await http::async_write(target.stream, response, token);
    co_return !ec && response.keep_alive();
}

/// Sends events until the page is closed, or reads too slowly. Counts the page before its first wait: many
/// clients may ask at the same moment.
asio::awaitable<void> admin_server::core::send_events(connection& target) {
    const counted open_page(pages_);
    auto head = head_of_events();
    boost::system::error_code ec;
    target.stream.expires_after(patience);
    auto token = redirect_error(use_awaitable, ec);
    co_await http::async_write(target.stream, head, token);
    if (ec) {
        co_return;
    }
    const auto reader = news_.open();
    while (!ec) {
        const auto texts = co_await reader->take();
        if (texts.empty()) {
            co_return;
        }
        std::vector<asio::const_buffer> buffers;
        for (const auto& each : texts) {
            buffers.push_back(asio::buffer(*each));
        }
        target.stream.expires_after(patience);
        auto writing = redirect_error(use_awaitable, ec);
        co_await asio::async_write(target.stream, buffers, writing);
    }
}

} // namespace skep

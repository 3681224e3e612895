// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/admin_core.hpp"

#include "async/pause.hpp"
#include "core/clock.hpp"
#include "core/config_problems.hpp"
#include "core/visible_ascii.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
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
constexpr auto patience = 10s; // with who is silent, or reads slowly
constexpr auto pause_after_failed_accept = 100ms;

constexpr std::string_view head_of_events = "HTTP/1.1 200 OK\r\n"
                                            "Content-Type: text/event-stream\r\n"
                                            "Cache-Control: no-store\r\n"
                                            "X-Content-Type-Options: nosniff\r\n"
                                            "Connection: close\r\n\r\n";

/// Where to listen; throws error(invalid_config) if that, or another option, breaks its rule.
tcp::endpoint endpoint_of(const admin_options& options) {
    config_problems problems;
    boost::system::error_code ec;
    const auto address = asio::ip::make_address(options.address, ec);
    problems.expect(!ec, {"address"}, '"' + options.address + '"', "must be an IP address");
    const auto& token = options.token;
    const bool is_token = token.size() >= 16 && token.size() <= 256 && is_visible_ascii(token);
    problems.expect(token.empty() || is_token, {"token"}, "(not shown)",
                    "must be empty, or 16..256 visible ASCII characters");
    problems.expect(options.connections >= 1 && options.connections <= 10'000, {"connections"},
                    std::to_string(options.connections), "must be 1..10000");
    problems.raise();
    return {address, options.port};
}

tcp::acceptor listen(const strand& executor, const tcp::endpoint& where) {
    try {
        return tcp::acceptor(asio::any_io_executor(executor), where);
    } catch (const boost::system::system_error& failure) {
        config_problems problems;
        problems.add("port", std::to_string(where.port()),
                     "nothing can listen on " + where.address().to_string() +
                         " there: " + failure.code().message());
        problems.raise();
        throw;
    }
}

/// Counts a page while it is open.
class page_count {
public:
    explicit page_count(std::size_t& pages) noexcept : pages_(pages) { ++pages_; }
    ~page_count() { --pages_; }
    page_count(const page_count&) = delete;
    page_count& operator=(const page_count&) = delete;

private:
    std::size_t& pages_;
};

/// What is wrong with a request that cannot be read; none if its sender is not there any more.
std::optional<http_response> complaint(const boost::system::error_code& ec) {
    if (ec == http::error::header_limit) {
        return text_response(http::status::request_header_fields_too_large, "the head is too long\n");
    }
    if (ec == http::error::body_limit) {
        return text_response(http::status::payload_too_large, "the body is too long\n");
    }
    const bool is_malformed = ec.category() == make_error_code(http::error::bad_method).category() &&
                              ec != http::error::end_of_stream && ec != http::error::partial_message;
    return is_malformed ? std::optional(text_response(http::status::bad_request, "this is no HTTP request\n"))
                        : std::nullopt;
}

} // namespace

admin_server::core::core(const asio::any_io_executor& executor, std::function<pool_access::listing()> pools,
                         event_bus& events, admin_options options)
    : executor_(executor),
      options_(std::move(options)),
      pools_(std::move(pools), events),
      survey_(executor_, pools_),
      news_(executor_, pools_, survey_, !options_.token.empty()),
      acceptor_(listen(executor_, endpoint_of(options_))),
      endpoint_(acceptor_.local_endpoint()),
      tasks_(executor_, [](const std::exception_ptr&) {}) {} // a connection that is lost is no news

void admin_server::core::begin() {
    asio::post(executor_, [self = shared_from_this()] {
        self->tasks_.spawn(self, self->accept());
        self->tasks_.spawn(self, self->news_.run(self));
    });
}

void admin_server::core::end() {
    pools_.forget();
    asio::post(executor_, [self = shared_from_this()] { self->close(); });
}

void admin_server::core::close() {
    boost::system::error_code ec;
    acceptor_.close(ec);
    tasks_.cancel();
}

asio::awaitable<void> admin_server::core::accept() {
    while (acceptor_.is_open()) {
        boost::system::error_code ec;
        auto token = redirect_error(use_awaitable, ec);
        tcp::socket socket = co_await acceptor_.async_accept(token);
        if (ec) { // too many descriptors are open, as a rule
            co_await pause_until(executor_, clock::now() + pause_after_failed_accept);
        } else if (acceptor_.is_open()) { // it may have been closed meanwhile
            admit(std::move(socket));
        }
    }
}

/// One that finds no room, or no memory, is closed.
void admin_server::core::admit(tcp::socket socket) {
    if (connections_.size() >= options_.connections && !make_room()) {
        return;
    }
    try {
        boost::system::error_code ec;
        socket.set_option(tcp::no_delay(true), ec);
        connections_.push_back(std::make_shared<connection>(std::move(socket)));
        tasks_.spawn(shared_from_this(), converse(connections_.back()));
    } catch (const std::exception&) {}
}

/// Closes the oldest connection that is idle; false if none is.
bool admin_server::core::make_room() {
    const auto idle = std::find_if(connections_.begin(), connections_.end(),
                                   [](const auto& each) { return each->is_idle; });
    if (idle == connections_.end()) {
        return false;
    }
    (*idle)->stream.close();
    connections_.erase(idle);
    return true;
}

/// One connection, until it ends in whatever way.
asio::awaitable<void> admin_server::core::converse(connection_ptr with) {
    try {
        co_await serve_requests(*with);
    } catch (const std::exception&) {} // it was cancelled, or there is no memory for it
    forget(with);
}

void admin_server::core::forget(const connection_ptr& gone) {
    gone->stream.close();
    connections_.remove(gone);
}

asio::awaitable<void> admin_server::core::serve_requests(connection& with) {
    beast::flat_buffer buffer;
    bool more = true;
    while (more) {
        more = co_await serve_request(with, buffer);
    }
}

/// False if it is the last one.
asio::awaitable<bool> admin_server::core::serve_request(connection& with, beast::flat_buffer& buffer) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(longest_head);
    parser.body_limit(longest_body);
    with.is_idle = buffer.size() == 0;
    with.stream.expires_after(patience);
    boost::system::error_code ec;
    auto token = redirect_error(use_awaitable, ec);
    co_await http::async_read(with.stream, buffer, parser, token);
    with.is_idle = false;
    if (ec) {
        auto refusal = complaint(ec);
        if (refusal) {
            refusal->keep_alive(false);
            refusal->prepare_payload();
            co_await send(with, std::move(*refusal));
        }
        co_return false;
    }
    bool more = co_await answer(with, parser.get());
    co_return more;
}

asio::awaitable<bool> admin_server::core::answer(connection& with, const http_request& asked) {
    const auto address = endpoint_.address();
    const admin_resources resources{options_, address.is_loopback(), pools_, survey_};
    std::optional<http_response> response;
    if (is_for_events(asked)) {
        response = refusal_of_events(resources, asked, pages_);
        if (!response) {
            co_await send_events(with);
            co_return false;
        }
    } else {
        with.stream.expires_never(); // a change takes its time
        auto responding = respond(resources, asked);
        auto made = co_await std::move(responding);
        response = std::move(made);
    }
    response->version(asked.version());
    response->keep_alive(asked.keep_alive());
    response->prepare_payload();
    if (asked.method() == http::verb::head) {
        response->body().clear(); // but for its length
    }
    bool more = co_await send(with, std::move(*response));
    co_return more;
}

/// False if that was the last answer on this connection.
asio::awaitable<bool> admin_server::core::send(connection& to, http_response response) {
    to.stream.expires_after(patience);
    boost::system::error_code ec;
    auto token = redirect_error(use_awaitable, ec);
    co_await http::async_write(to.stream, response, token);
    co_return !ec && response.keep_alive();
}

/// Until the page is closed, or reads too slowly.
asio::awaitable<void> admin_server::core::send_events(connection& to) {
    boost::system::error_code ec;
    auto token = redirect_error(use_awaitable, ec);
    to.stream.expires_after(patience);
    const auto head = asio::buffer(head_of_events.data(), head_of_events.size());
    co_await asio::async_write(to.stream, head, token);
    const auto reader = news_.open();
    const page_count counted(pages_);
    while (!ec) {
        auto taking = reader->take();
        const auto texts = co_await std::move(taking);
        if (texts.empty()) {
            co_return;
        }
        std::vector<asio::const_buffer> buffers;
        for (const auto& each : texts) {
            buffers.push_back(asio::buffer(*each));
        }
        to.stream.expires_after(patience);
        auto writing = redirect_error(use_awaitable, ec);
        co_await asio::async_write(to.stream, buffers, writing);
    }
}

} // namespace skep

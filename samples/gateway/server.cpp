// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server.hpp"

#include "background.hpp"
#include "event_stream.hpp"
#include "routes.hpp"
#include <skep/until.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <string_view>
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

constexpr std::size_t longest_body = 16u << 20;
constexpr std::size_t small_body =
    64u << 10; // bytes of each body that do not count, so that small bodies never wait for large ones
constexpr auto time_for_body = 2s;                 // a slower body may be dropped for another body
constexpr std::size_t most_buffered = 128u << 10;  // unparsed bytes of a connection; a head is at most 8 KiB
constexpr std::size_t most_read_ahead = 16u << 10; // bytes that a client may send before it has its answer
constexpr auto longest_silence = 30s; // of a client, before a request or while it takes an answer
constexpr auto last_chance = 1s;      // for requests on connections that were idle when the drain began

/// The budget has no memory for a body.
const auto too_much_at_once = make_error_code(boost::system::errc::not_enough_memory);

http_response complaint_of(http::status status, std::string_view code, std::string_view message) {
    return as_json(status, boost::json::object{{"error", code}, {"message", message}});
}

/// Returns the response to a request that cannot be read; an empty optional if the client has left.
std::optional<http_response> complaint(const boost::system::error_code& ec, bool has_head) {
    if (ec == too_much_at_once) {
        auto refusal = complaint_of(http::status::service_unavailable, "overload", "too many bodies at once");
        refusal.set(http::field::retry_after, "1");
        return refusal;
    }
    if (ec == http::error::header_limit || (ec == http::error::buffer_overflow && !has_head)) {
        return complaint_of(http::status::request_header_fields_too_large, "head_too_long",
                            "the head is too long");
    }
    if (ec == http::error::body_limit) {
        return complaint_of(http::status::payload_too_large, "body_too_long", "the body is too long");
    }
    const bool is_malformed = ec.category() == make_error_code(http::error::bad_method).category() &&
                              ec != http::error::end_of_stream && ec != http::error::partial_message;
    return is_malformed ? std::optional(complaint_of(http::status::bad_request, "bad_request", ec.message()))
                        : std::nullopt;
}

/// Returns true if the end of the body is known. With an unknown coding, Beast assumes an empty body and
/// parses the body as the next request.
bool has_known_end(const http_request& request) {
    const auto codings = request.equal_range(http::field::transfer_encoding);
    return std::all_of(codings.first, codings.second, [&](const auto& coding) {
        return std::distance(codings.first, codings.second) == 1 && beast::iequals(coding.value(), "chunked");
    });
}

/// Increments a count during its lifetime.
class counted {
public:
    explicit counted(std::size_t& count) : count_(count) { ++count_; }
    ~counted() { --count_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

private:
    std::size_t& count_;
};

} // namespace

server::server(const asio::any_io_executor& executor, const tcp::endpoint& where, skep::pool_manager& pools,
               const limits& most)
    : pools_(pools),
      acceptor_(executor, where),
      port_(acceptor_.local_endpoint().port()),
      most_connections_(most.connections),
      bodies_(most.body_bytes),
      room_(executor),
      last_has_ended_(executor) {}

server::connection::connection(tcp::socket socket, body_budget& bodies)
    : stream(std::move(socket)), buffer(most_buffered), body(bodies) {}

void server::begin() {
    if (acceptor_.is_open()) {
        asio::co_spawn(acceptor_.get_executor(), accept(), report_failure);
    }
}

asio::awaitable<void> server::accept() {
    asio::steady_timer pause(acceptor_.get_executor());
    while (acceptor_.is_open()) {
        boost::system::error_code ec;
        auto token = redirect_error(use_awaitable, ec);
        tcp::socket socket = co_await acceptor_.async_accept(token);
        if (!ec) {
            co_await wait_for_room();
            admit(std::move(socket));
        } else if (acceptor_.is_open()) { // usually: too many open descriptors
            pause.expires_after(20ms);
            co_await pause.async_wait(use_awaitable);
        }
    }
}

/// Waits while every connection has a request in progress. Returns early when the drain begins.
asio::awaitable<void> server::wait_for_room() {
    while (!make_room() && !is_draining_) {
        room_.expires_at(steady_clock::time_point::max());
        boost::system::error_code ec;
        auto token = redirect_error(use_awaitable, ec);
        co_await room_.async_wait(token);
    }
}

/// At the limit, closes the connection that has waited longest for its client. Returns false if all
/// connections are working.
bool server::make_room() {
    if (connections_.size() < most_connections_) {
        return true;
    }
    const auto longest_waiting = std::find_if(connections_.begin(), connections_.end(),
                                              [](const auto& each) { return each->now != phase::working; });
    if (longest_waiting == connections_.end()) {
        return false;
    }
    close(**longest_waiting);
    return true;
}

/// Closes connections with slow bodies until this body fits. Returns false if no slow body is left.
bool server::make_room_for_body(connection& of, std::size_t bytes) {
    const auto limit = steady_clock::now() - time_for_body;
    const auto is_slow = [&of, limit](const auto& each) {
        return each.get() != &of && each->now == phase::reading && each->body.bytes() > 0 &&
               each->begun < limit;
    };
    while (!of.body.grow_to(bytes - std::min(bytes, small_body))) {
        const auto slow = std::find_if(connections_.begin(), connections_.end(), is_slow);
        if (slow == connections_.end()) {
            return false;
        }
        close(**slow);
    }
    return true;
}

void server::admit(tcp::socket socket) {
    if (!make_room()) {
        return;
    }
    boost::system::error_code ec;
    socket.set_option(tcp::no_delay(true), ec);
    const auto fresh = std::make_shared<connection>(std::move(socket), bodies_);
    fresh->place = connections_.insert(connections_.end(), fresh);
    fresh->is_listed = true;
    asio::co_spawn(acceptor_.get_executor(), converse(fresh), report_failure);
}

void server::enter(connection& with, phase next) {
    const bool begins_to_wait = (next == phase::idle || next == phase::sending) && with.is_listed;
    with.now = next;
    with.begun = steady_clock::now();
    if (begins_to_wait) {
        connections_.splice(connections_.end(), connections_, with.place);
        room_.cancel();
    }
}

/// The connection's coroutine ends by an error of its next operation.
void server::close(connection& gone) {
    gone.stream.close();
    gone.body.give_back();
    forget(gone);
}

void server::forget(connection& gone) {
    if (std::exchange(gone.is_listed, false)) {
        connections_.erase(gone.place);
        room_.cancel();
        if (connections_.empty()) {
            last_has_ended_.cancel();
        }
    }
}

/// Serves one connection until it ends.
asio::awaitable<void> server::converse(connection_ptr with) {
    try {
        co_await serve(*with);
    } catch (const std::exception&) {} // a lost connection is normal
    forget(*with);
}

asio::awaitable<void> server::serve(connection& with) {
    bool more = true;
    while (more && !(is_over_ && with.buffer.size() == 0)) {
        co_await wait_for_request(with);
        more = co_await serve_request(with);
        with.body.give_back();
    }
}

/// Returns when the first bytes of a request have arrived.
asio::awaitable<void> server::wait_for_request(connection& with) {
    enter(with, phase::idle);
    if (with.buffer.size() == 0) {
        with.stream.expires_after(longest_silence);
        const auto room = with.buffer.prepare(4096);
        const auto count = co_await with.stream.async_read_some(room, use_awaitable);
        with.buffer.commit(count);
    }
    enter(with, phase::reading);
}

/// Returns false after the last request of a connection.
asio::awaitable<bool> server::serve_request(connection& with) {
    request_parser parser;
    parser.body_limit(longest_body);
    const auto problem = co_await read(with, parser);
    if (problem) {
        std::exchange(parser.get().body(), {}); // frees the body before the refusal is sent
        if (auto refusal = complaint(problem, parser.is_header_done())) {
            auto refusing = refuse(with, std::move(*refusal));
            co_await std::move(refusing);
        }
        co_return false;
    }
    auto& request = parser.get();
    enter(with, phase::working);
    with.stream.expires_never();
    if (request.method() == http::verb::post && request.target() == "/generate") {
        const bool more = co_await serve_stream(with, request);
        co_return more;
    }
    auto responding = respond(pools_, request);
    auto leaving = see_it_leave(with);
    auto racing = skep::until(std::move(responding), std::move(leaving));
    auto response = co_await std::move(racing);
    if (!response) {
        co_return false;
    }
    auto sending = send(with, request, std::move(*response));
    const bool more = co_await std::move(sending);
    co_return more;
}

/// Keeps a quarter of the connections for short requests. Counts the stream before the first wait.
asio::awaitable<bool> server::serve_stream(connection& with, const http_request& request) {
    if (streams_ >= most_connections_ - most_connections_ / 4) {
        auto refusal =
            complaint_of(http::status::service_unavailable, "overload", "too many streams at once");
        refusal.set(http::field::retry_after, "1");
        auto sending = send(with, request, std::move(refusal));
        const bool more = co_await std::move(sending);
        co_return more;
    }
    const counted one(streams_);
    auto telling = generate(pools_, with.stream, request);
    auto leaving = see_it_leave(with);
    auto racing = skep::until(std::move(telling), std::move(leaving));
    co_await std::move(racing);
    co_return false;
}

/// Returns when the client has closed the connection or its half. Keeps the bytes that the client sends, up
/// to a limit: requests that follow.
asio::awaitable<void> server::see_it_leave(connection& with) {
    boost::system::error_code ec;
    while (!ec && with.buffer.size() < most_read_ahead) {
        const auto room = with.buffer.prepare(4096);
        auto token = redirect_error(use_awaitable, ec);
        const auto count = co_await with.stream.socket().async_read_some(room, token);
        with.buffer.commit(count);
    }
    while (!ec) { // until the answer is there
        asio::steady_timer never(with.stream.get_executor(), steady_clock::time_point::max());
        co_await never.async_wait(use_awaitable);
    }
}

asio::awaitable<boost::system::error_code> server::read(connection& with, request_parser& into) {
    with.stream.expires_after(longest_silence);
    boost::system::error_code ec;
    auto head = redirect_error(use_awaitable, ec);
    co_await http::async_read_header(with.stream, with.buffer, into, head);
    if (!ec && !has_known_end(into.get())) {
        ec = http::error::bad_transfer_encoding;
    }
    if (!ec && beast::iequals(into.get()[http::field::expect], "100-continue")) {
        http::response<http::empty_body> go_on(http::status::continue_, 11);
        auto word = redirect_error(use_awaitable, ec);
        co_await http::async_write(with.stream, go_on, word);
    }
    if (!ec) {
        ec = co_await read_body(with, into);
    }
    co_return ec;
}

/// Takes memory for received bytes only: with announced lengths, silent clients could take all memory.
asio::awaitable<boost::system::error_code> server::read_body(connection& with, request_parser& into) {
    boost::system::error_code ec;
    while (!ec && !into.is_done()) {
        auto token = redirect_error(use_awaitable, ec);
        co_await http::async_read_some(with.stream, with.buffer, into, token);
        if (!ec && !make_room_for_body(with, into.get().body().size())) {
            ec = too_much_at_once;
        }
    }
    co_return ec;
}

/// Sends a refusal, then reads and drops input for at most 2 s: closing a connection with unread input would
/// discard the answer. (Beast's async_teardown reads as long as the client sends, and blocks other
/// connections.)
asio::awaitable<void> server::refuse(connection& with, http_response response) {
    enter(with, phase::sending);
    with.body.give_back();
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

/// Returns false after the last answer of a connection.
asio::awaitable<bool> server::send(connection& with, const http_request& asked, http_response response) {
    const bool may_go_on = !is_draining_ || with.buffer.size() > 0;
    enter(with, phase::sending);
    response.version(asked.version());
    response.keep_alive(asked.keep_alive() && may_go_on);
    response.prepare_payload();
    if (asked.method() == http::verb::head) {
        response.body().clear(); // the header keeps the length
    }
    with.stream.expires_after(longest_silence);
    co_await http::async_write(with.stream, response, use_awaitable);
    co_return response.keep_alive();
}

asio::awaitable<bool> server::drain(std::chrono::seconds grace) {
    const auto limit = steady_clock::now() + grace;
    is_draining_ = true;
    room_.cancel();
    accept_backlog();
    boost::system::error_code ec;
    acceptor_.close(ec);
    co_await asio::post(acceptor_.get_executor(),
                        use_awaitable); // by then, accepted connections are admitted
    co_await wait_for_last(std::min(limit, steady_clock::now() + last_chance));
    is_over_ = true;
    for (auto& each : connections_) {
        if (each->now == phase::idle) {
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

/// Admits connections from the kernel's backlog, as long as there is room.
void server::accept_backlog() {
    boost::system::error_code ec;
    acceptor_.non_blocking(true, ec);
    while ((!ec || ec == asio::error::connection_aborted) && make_room()) {
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

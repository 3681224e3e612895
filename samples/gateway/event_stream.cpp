// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "event_stream.hpp"

#include "arguments.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace json = boost::json;
using asio::use_awaitable;
using namespace std::chrono_literals;

constexpr auto patience = 30s; // time limit for a client that does not read

asio::awaitable<void> send(beast::tcp_stream& to, std::string text) {
    to.expires_after(patience);
    const auto bytes = asio::buffer(text);
    co_await asio::async_write(to, bytes, use_awaitable);
}

asio::awaitable<void> send(beast::tcp_stream& to, std::string_view event, const json::value& data) {
    auto text = "event: " + std::string(event) + "\ndata: " + json::serialize(data) + "\n\n";
    return send(to, std::move(text));
}

std::string head_for(const visitor& who) {
    std::string head = "HTTP/1.1 200 OK\r\n"
                       "Content-Type: text/event-stream\r\n"
                       "Cache-Control: no-store\r\n"
                       "Connection: close\r\n";
    if (who.is_new) {
        head += "Set-Cookie: " + cookie_of(who) + "\r\n";
    }
    return head + "\r\n";
}

/// One answer to one request.
class narration {
public:
    narration(skep::pool_manager& pools, beast::tcp_stream& to, const http_request& request)
        : pools_(pools), to_(to), request_(request), who_(visitor_of(request)) {}

    asio::awaitable<void> run() {
        std::optional<skep::error> problem;
        try {
            co_await tell();
        } catch (const skep::error& failure) {
            problem = failure;
        }
        if (problem) {
            co_await tell_of(*problem);
        }
    }

private:
    asio::awaitable<void> tell() {
        auto call = skep::request("generate").pool("stories").session(who_.session);
        call.args(arguments_in(request_.body()));
        auto opening = pools_.stream(std::move(call));
        auto stream = co_await std::move(opening);
        for (bool more = true; more;) {
            auto waiting = stream.next();
            const auto piece = co_await std::move(waiting);
            co_await begin(); // only now: a call that fails at once gets its own status
            more = piece.has_value();
            auto sending = more ? send(to_, "word", piece->value) : send(to_, "end", stream.result().value);
            co_await std::move(sending);
        }
    }

    asio::awaitable<void> begin() {
        if (!std::exchange(has_begun_, true)) {
            auto sending = send(to_, head_for(who_));
            co_await std::move(sending);
        }
    }

    /// Reports a failure: as an event after the head, else as a response.
    asio::awaitable<void> tell_of(const skep::error& problem) {
        if (has_begun_) {
            log_if_ours(problem);
            auto sending = send(to_, "error", explanation(problem));
            co_await std::move(sending);
        } else {
            auto response = as_response(problem);
            response.keep_alive(false);
            response.prepare_payload();
            to_.expires_after(patience);
            co_await http::async_write(to_, response, use_awaitable);
        }
    }

    skep::pool_manager& pools_;
    beast::tcp_stream& to_;
    const http_request& request_;
    const visitor who_;
    bool has_begun_ = false;
};

} // namespace

asio::awaitable<void> generate(skep::pool_manager& pools, beast::tcp_stream& to,
                               const http_request& request) {
    narration story(pools, to, request);
    co_await story.run();
}

} // namespace gateway

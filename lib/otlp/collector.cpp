// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "otlp/collector.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>

#include <charconv>
#include <utility>

namespace skep {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace json = boost::json;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

/// As seconds; a date is not worth its parser, and is taken for none.
std::optional<duration> retry_after(std::string_view header) {
    int seconds = 0;
    const auto end = header.data() + header.size();
    const auto parsed = std::from_chars(header.data(), end, seconds);
    const bool is_time = parsed.ec == std::errc() && parsed.ptr == end && !header.empty() && seconds >= 0;
    return is_time ? std::optional<duration>(std::chrono::seconds(seconds)) : std::nullopt;
}

/// {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "..."}}, or none of that.
void read_partial_success(const std::string& body, collector_answer& into) {
    boost::system::error_code ec;
    const auto parsed = json::parse(body, ec);
    const auto* const success = ec ? nullptr : parsed.if_object();
    const auto* const part = success != nullptr ? success->if_contains("partialSuccess") : nullptr;
    const auto* const facts = part != nullptr ? part->if_object() : nullptr;
    const auto text = [facts](const char* key) {
        const auto* const found = facts != nullptr ? facts->if_contains(key) : nullptr;
        return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
    };
    const auto count = text("rejectedSpans");
    std::from_chars(count.data(), count.data() + count.size(), into.rejected);
    into.problem = text("errorMessage");
}

bool may_be_repeated(http::status status) {
    return status == http::status::too_many_requests || status == http::status::bad_gateway ||
           status == http::status::service_unavailable || status == http::status::gateway_timeout;
}

} // namespace

asio::awaitable<collector_answer> collector::post(std::string body, duration timeout) {
    const auto asked = request_of(std::move(body));
    collector_answer answer;
    stream_.expires_after(timeout);
    for (bool is_fresh = false;
         !is_fresh;) { // one that was kept may have been closed by the other side meanwhile
        is_fresh = !stream_.socket().is_open();
        answer = {};
        try {
            if (is_fresh) {
                co_await connect();
            }
            response got = co_await exchange(asked);
            if (!got.keep_alive()) {
                stream_.close();
            }
            answer.is_taken = http::to_status_class(got.result()) == http::status_class::successful;
            answer.may_be_repeated = may_be_repeated(got.result());
            answer.retry_after = retry_after(got[http::field::retry_after]);
            if (answer.is_taken) {
                read_partial_success(got.body(), answer);
            } else {
                answer.problem = "it has answered " + std::to_string(got.result_int());
            }
            co_return answer;
        } catch (const boost::system::system_error& failure) {
            stream_.close();
            if (failure.code() == asio::error::operation_aborted) {
                throw;
            }
            answer.may_be_repeated = true;
            answer.problem = failure.code().message();
        }
    }
    co_return answer;
}

collector::request collector::request_of(std::string body) const {
    request asked(http::verb::post, options_.path, 11);
    asked.set(http::field::host, options_.host + ':' + std::to_string(options_.port));
    asked.set(http::field::content_type, "application/json");
    for (const auto& [name, value] : options_.headers) {
        asked.set(name, value);
    }
    asked.body() = std::move(body);
    asked.prepare_payload();
    return asked;
}

asio::awaitable<void> collector::connect() {
    const auto where = co_await find();
    co_await stream_.async_connect(where, use_awaitable);
    buffer_.clear();
}

asio::awaitable<tcp::endpoint> collector::find() {
    boost::system::error_code ec;
    const auto address = asio::ip::make_address(options_.host, ec);
    if (!ec) {
        co_return tcp::endpoint(address, options_.port);
    }
    tcp::resolver resolver(stream_.get_executor());
    const auto port = std::to_string(options_.port);
    const auto found = co_await resolver.async_resolve(options_.host, port, use_awaitable);
    co_return found.begin()->endpoint();
}

asio::awaitable<collector::response> collector::exchange(const request& asked) {
    co_await http::async_write(stream_, asked, use_awaitable);
    response got;
    co_await http::async_read(stream_, buffer_, got, use_awaitable);
    co_return got;
}

} // namespace skep

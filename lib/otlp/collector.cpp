// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "otlp/collector.hpp"

#include "core/text.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
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

constexpr std::size_t longest_problem = 1024;
constexpr std::uint64_t longest_answer = 64u << 10;

/// Parses a time in seconds. Ignores dates, which are not worth a parser.
std::optional<duration> retry_after(std::string_view header) {
    int seconds = 0;
    const auto end = header.data() + header.size();
    const auto parsed = std::from_chars(header.data(), end, seconds);
    const bool is_time = parsed.ec == std::errc() && parsed.ptr == end && !header.empty() && seconds >= 0;
    return is_time ? std::optional<duration>(std::chrono::seconds(seconds)) : std::nullopt;
}

/// Returns a number, also from text, the form of 64-bit numbers.
std::uint64_t count_in(const json::value& value) {
    std::uint64_t count = 0;
    if (const auto* const text = value.if_string()) {
        std::from_chars(text->data(), text->data() + text->size(), count);
    } else {
        boost::system::error_code ec;
        const auto number = value.to_number<std::uint64_t>(ec);
        count = ec ? 0 : number;
    }
    return count;
}

/// Reads {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "..."}}. Each part is optional.
void read_partial_success(const std::string& body, collector_answer& target) {
    boost::system::error_code ec;
    const auto parsed = json::parse(body, ec);
    const auto* const success = ec ? nullptr : parsed.if_object();
    const auto* const part = success != nullptr ? success->if_contains("partialSuccess") : nullptr;
    const auto* const facts = part != nullptr ? part->if_object() : nullptr;
    if (facts == nullptr) {
        return;
    }
    if (const auto* const count = facts->if_contains("rejectedSpans")) {
        target.rejected = count_in(*count);
    }
    if (const auto* const why = facts->if_contains("errorMessage"); why != nullptr && why->is_string()) {
        target.problem = beginning_of(why->get_string(), longest_problem);
    }
}

bool may_be_repeated(http::status status) {
    return status == http::status::too_many_requests || status == http::status::bad_gateway ||
           status == http::status::service_unavailable || status == http::status::gateway_timeout;
}

/// Returns true if the server has closed a kept connection.
bool is_stale(const boost::system::error_code& problem) {
    return problem == http::error::end_of_stream || problem == asio::error::eof ||
           problem == asio::error::connection_reset || problem == asio::error::broken_pipe;
}

} // namespace

asio::awaitable<collector_answer> collector::post(std::string body, duration timeout) {
    const auto asked = request_of(std::move(body));
    stream_.expires_after(timeout);
    boost::system::error_code problem;
    bool is_fresh = false;
    do {
        is_fresh = !stream_.socket().is_open();
        try {
            if (is_fresh) {
                co_await connect(timeout);
            }
            response got = co_await exchange(asked);
            co_return to_answer(got);
        } catch (const boost::system::system_error& failure) {
            problem = failure.code();
            stream_.close();
        }
    } while (!is_fresh && is_stale(problem));
    if (problem == asio::error::operation_aborted) {
        throw boost::system::system_error(problem);
    }
    collector_answer answer;
    answer.may_be_repeated = problem.category() != make_error_code(http::error::bad_version).category();
    answer.problem = problem.message();
    co_return answer;
}

/// Converts a response. Anything besides one answer to one request puts later answers out of step, so the
/// connection is closed.
collector_answer collector::to_answer(const response& http_reply) {
    const auto kind = http::to_status_class(http_reply.result_int()); // some numbers have no name
    const bool is_informational = kind == http::status_class::informational;
    if (!http_reply.keep_alive() || is_informational || buffer_.size() > 0) {
        stream_.close();
    }
    collector_answer answer;
    answer.is_taken = kind == http::status_class::successful;
    answer.may_be_repeated = may_be_repeated(http_reply.result()) || is_informational;
    answer.retry_after = retry_after(http_reply[http::field::retry_after]);
    if (answer.is_taken) {
        read_partial_success(http_reply.body(), answer);
    } else {
        answer.problem = "it has answered " + std::to_string(http_reply.result_int());
    }
    return answer;
}

collector::request collector::request_of(std::string body) const {
    const bool is_v6 = options_.host.find(':') != std::string::npos;
    const auto host = is_v6 ? '[' + options_.host + ']' : options_.host;
    request asked(http::verb::post, options_.path, 11);
    asked.set(http::field::host, host + ':' + std::to_string(options_.port));
    asked.set(http::field::content_type, "application/json");
    for (const auto& [name, value] : options_.headers) {
        asked.set(name, value);
    }
    asked.body() = std::move(body);
    asked.prepare_payload();
    return asked;
}

asio::awaitable<void> collector::connect(duration timeout) {
    const tcp::resolver::results_type places = co_await find();
    stream_.expires_after(timeout); // the look-up has its own time
    co_await stream_.async_connect(places, use_awaitable);
    buffer_.clear();
}

asio::awaitable<tcp::resolver::results_type> collector::find() {
    using results = tcp::resolver::results_type;
    const auto port = std::to_string(options_.port);
    boost::system::error_code ec;
    const auto address = asio::ip::make_address(options_.host, ec);
    if (!ec) {
        const tcp::endpoint place(address, options_.port);
        co_return results::create(place, options_.host, port);
    }
    tcp::resolver resolver(stream_.get_executor());
    results found = co_await resolver.async_resolve(options_.host, port, use_awaitable);
    co_return found;
}

asio::awaitable<collector::response> collector::exchange(const request& query) {
    co_await http::async_write(stream_, query, use_awaitable);
    http::response_parser<http::string_body> parser;
    parser.body_limit(longest_answer);
    co_await http::async_read(stream_, buffer_, parser, use_awaitable);
    co_return parser.release();
}

} // namespace skep

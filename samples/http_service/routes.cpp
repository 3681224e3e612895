// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "routes.hpp"

#include <boost/beast/http/status.hpp>
#include <boost/json/serialize.hpp>

#include <charconv>
#include <iostream>
#include <string>
#include <string_view>

namespace http_service {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;
using skep::errc;
using namespace std::chrono_literals;

http::status status_of(const skep::error& failure) {
    const auto code = failure.errc();
    return is_callers_fault(failure)     ? http::status::bad_request
           : code == errc::timeout       ? http::status::gateway_timeout
           : code == errc::shutting_down ? http::status::service_unavailable
           : retryable(code)             ? http::status::service_unavailable
                                         : http::status::internal_server_error;
}

http_response make_response(http::status status, std::string_view type, std::string body) {
    http_response response(status, 11);
    response.set(http::field::content_type, type);
    response.body() = std::move(body);
    return response;
}

http_response as_json(http::status status, const json::value& value) {
    return make_response(status, "application/json", json::serialize(value) + "\n");
}

/// Clients learn what they can do about it; the whole story is for the log.
http_response explain(const skep::error& failure) {
    const auto status = status_of(failure);
    if (status == http::status::internal_server_error) {
        std::cerr << failure.what() << '\n';
    }
    const auto& info = failure.info;
    json::object body{{"error", failure.code().message()}};
    if (!info.remote_code.empty()) {
        body = {{"error", info.remote_code}, {"message", info.remote_message}};
    }
    auto response = as_json(status, body);
    if (retryable(failure.errc())) {
        response.set(http::field::retry_after, "1");
    }
    return response;
}

asio::awaitable<http_response> classify(skep::pool& pool, const http_request& request) {
    auto call = skep::request("classify").arg("text", request.body()).timeout(2s).idempotent(true);
    const auto answer = co_await pool.execute(std::move(call));
    co_return as_json(http::status::ok, answer.value);
}

/// The number behind "?width="; 0 if there is none.
int width_in(std::string_view target) {
    constexpr std::string_view key = "?width=";
    const auto found = target.find(key);
    int width = 0;
    if (found != std::string_view::npos) {
        const auto digits = target.substr(found + key.size());
        std::from_chars(digits.data(), digits.data() + digits.size(), width);
    }
    return width;
}

asio::awaitable<http_response> thumbnail(skep::pool& pool, const http_request& request) {
    auto call =
        skep::request("thumbnail").arg("width", width_in(request.target())).timeout(5s).idempotent(true);
    call.attach(request.body());
    const auto answer = co_await pool.execute(std::move(call));
    std::string body(answer.attachments.at(0).text());
    co_return make_response(http::status::ok, "image/png", std::move(body));
}

asio::awaitable<http_response> status(skep::pool& pool) {
    const auto status = co_await pool.status();
    co_return as_json(http::status::ok, to_json(status));
}

asio::awaitable<http_response> not_found() {
    const json::object body{{"error", "POST /classify, POST /thumbnail?width=N or GET /status"}};
    co_return as_json(http::status::not_found, body);
}

asio::awaitable<http_response> route(skep::pool& pool, const http_request& request) {
    const std::string_view target = request.target();
    const bool posts = request.method() == http::verb::post;
    if (posts && target == "/classify") {
        return classify(pool, request);
    }
    if (posts && target.starts_with("/thumbnail")) {
        return thumbnail(pool, request);
    }
    if (request.method() == http::verb::get && target == "/status") {
        return status(pool);
    }
    return not_found();
}

} // namespace

asio::awaitable<http_response> respond(skep::pool& pool, const http_request& request) {
    try {
        auto answering = route(pool, request);
        auto response = co_await std::move(answering);
        co_return response;
    } catch (const skep::error& failure) {
        co_return explain(failure);
    }
}

} // namespace http_service

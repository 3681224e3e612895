// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "routes.hpp"

#include "arguments.hpp"
#include "page.hpp"

#include <charconv>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

asio::awaitable<http_response> predict(skep::call_interface& pools, const http_request& request) {
    auto call = skep::request("predict").pool("models").timeout(5s).idempotent(true);
    call.args(arguments_in(request.body()));
    auto running = pools.execute(std::move(call));
    const auto answer = co_await std::move(running);
    co_return as_json(http::status::ok, answer.value);
}

/// Returns the number after "?width=", or 0.
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

/// Moves the bytes into a blob, without a copy.
skep::blob blob_of(std::string bytes) {
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    const auto shown = std::as_bytes(std::span(*owner));
    return skep::blob(std::move(owner), shown);
}

asio::awaitable<http_response> thumbnail(skep::call_interface& pools, http_request& request) {
    auto call = skep::request("thumbnail").pool("pictures").timeout(5s).idempotent(true);
    call.arg("width", width_in(request.target())).attach(blob_of(std::move(request.body())));
    auto running = pools.execute(std::move(call));
    const auto answer = co_await std::move(running);
    std::string body(answer.attachments.at(0).text());
    co_return make_response(http::status::ok, "image/png", std::move(body));
}

asio::awaitable<http_response> answer_with(http_response response) {
    co_return response;
}

asio::awaitable<http_response> route(skep::call_interface& pools, http_request& request) {
    const std::string_view target = request.target();
    const auto path = target.substr(0, target.find('?'));
    const bool posts = request.method() == http::verb::post;
    if (posts && path == "/predict") {
        return predict(pools, request);
    }
    if (posts && path == "/thumbnail") {
        return thumbnail(pools, request);
    }
    const bool gets = request.method() == http::verb::get || request.method() == http::verb::head;
    if (gets && path == "/") {
        return answer_with(make_response(http::status::ok, "text/html; charset=utf-8", page()));
    }
    const json::object body{{"error", "not_found"},
                            {"message", "POST /predict, /generate or /thumbnail?width=N, or GET /"}};
    return answer_with(as_json(http::status::not_found, body));
}

} // namespace

asio::awaitable<http_response> respond(skep::call_interface& pools, http_request& request) {
    try {
        auto answering = route(pools, request);
        auto response = co_await std::move(answering);
        co_return response;
    } catch (const skep::error& failure) {
        if (failure.kind() == skep::errc::cancelled) { // the client has left
            throw;
        }
        co_return as_response(failure);
    } catch (const boost::system::system_error&) { // the client has left before the call began
        throw;
    } catch (const std::exception& failure) {
        std::cerr << failure.what() << '\n';
        co_return make_response(http::status::internal_server_error, "text/plain", "");
    }
}

} // namespace gateway

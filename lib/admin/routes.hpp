// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/pool_access.hpp"
#include "admin/remote_runner.hpp"
#include "admin/survey.hpp"
#include <skep/admin.hpp>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

using http_request = boost::beast::http::request<boost::beast::http::string_body>;
using http_response = boost::beast::http::response<boost::beast::http::string_body>;

/// The inputs of answers.
struct admin_resources {
    const admin_options& options;
    bool is_on_loopback;
    pool_access& pools;
    survey& looks;
    const std::shared_ptr<remote_runner>& answers;
    const strand& executor;
};

/// Returns true if a request is for the event stream.
bool is_for_events(const http_request& query);

/// Returns the refusal of an event stream, if it must be refused; `open` is the number of open streams.
std::optional<http_response> refusal_of_events(const admin_resources& resources, const http_request& query,
                                               std::size_t open);

/// Returns the head of an event stream.
http_response head_of_events();

/// Answers every request except for the event stream.
asio::awaitable<http_response> respond(const admin_resources& resources, const http_request& query);

/// Returns a text answer with the common headers.
http_response text_response(boost::beast::http::status status, std::string text,
                            std::string_view type = "text/plain; charset=utf-8");

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

namespace http_service {

using http_request = boost::beast::http::request<boost::beast::http::string_body>;
using http_response = boost::beast::http::response<boost::beast::http::string_body>;

/// POST /classify, a text: its language as JSON. POST /thumbnail?width=N, an image: a PNG. GET /status: the pool, as
/// JSON. Whatever fails is a response too.
boost::asio::awaitable<http_response> respond(skep::pool& pool, const http_request& request);

} // namespace http_service

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace gateway {

namespace http = boost::beast::http;

using http_request = http::request<http::string_body>;
using http_response = http::response<http::string_body>;

http_response make_response(http::status status, std::string_view type, std::string body);
http_response as_json(http::status status, const boost::json::value& value);

/// Returns the status of a failure, by one table.
http::status status_of(const skep::error& failure);

/// Returns {"error": ..., "message": ...} for the client.
boost::json::object explanation(const skep::error& failure);

/// Writes the full text of a failure to stderr if this service is at fault.
void log_if_ours(const skep::error& failure);

/// Returns the response to a failure, with Retry-After if the failure is retryable. Calls log_if_ours().
http_response as_response(const skep::error& failure);

} // namespace gateway

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "http.hpp"
#include "visitor.hpp"
#include <skep/call_interface.hpp>

#include <boost/asio/awaitable.hpp>

namespace gateway {

/// Answers a request. POST /predict {"text": ...}: the language of a text. POST /thumbnail?width=N with an
/// image: a PNG. GET /: a page for trying both. A failure becomes a response too. Moves the body out of the
/// request to avoid a copy.
boost::asio::awaitable<http_response> respond(skep::call_interface& pools, http_request& request);

} // namespace gateway

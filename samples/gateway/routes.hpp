// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "http.hpp"
#include "visitor.hpp"
#include <skep/call_interface.hpp>

#include <boost/asio/awaitable.hpp>

namespace gateway {

/// POST /predict {"text": ...}: the language of a text. POST /thumbnail?width=N, an image: a PNG. GET /: a page to try
/// that. Whatever fails is a response too. The body is taken where it would have to be copied.
boost::asio::awaitable<http_response> respond(skep::call_interface& pools, http_request& request);

} // namespace gateway

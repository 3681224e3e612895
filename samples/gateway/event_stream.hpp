// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "http.hpp"
#include "visitor.hpp"
#include <skep/pool_manager.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace gateway {

/// POST /generate {"prompt": ..., "words": ...}: sends each yielded word as server-sent event "word", and at
/// the end "end" or "error". A cancellation ends the generator. The caller must close the connection
/// afterwards.
boost::asio::awaitable<void> generate(skep::pool_manager& pools, boost::beast::tcp_stream& to,
                                      const http_request& request);

} // namespace gateway

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool.hpp>

#include <boost/asio/awaitable.hpp>

namespace http_service {

/// Answers HTTP requests on a port of the loopback interface until it is cancelled; 0 chooses one. Says which.
boost::asio::awaitable<void> serve(skep::pool& pool, unsigned short port);

} // namespace http_service

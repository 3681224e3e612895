// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/pool_executor.hpp"
#include "core/clock.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/wait_traits.hpp>

namespace skep {

namespace asio = boost::asio;

/// The executor that serialises a pool.
using strand = asio::strand<pool_executor>;

/// The only timer type of the library.
using timer = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, strand>;

} // namespace skep

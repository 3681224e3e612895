// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/wait_mode.hpp>

#include <boost/asio/io_context.hpp>

namespace skep {

namespace asio = boost::asio;

/// Runs `context` on the calling thread, as io_context::run() does. With wait_mode::adaptive, the thread
/// yields its core before it sleeps, where that is worthwhile; see wait_plan.
void run_context(asio::io_context& context, wait_mode mode);

} // namespace skep

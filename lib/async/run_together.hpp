// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace skep {

namespace asio = boost::asio;

/// When the parts that still run are cancelled.
enum class cancel_others {
    never,
    after_failure, ///< of one part
    after_end      ///< of one part
};

/// Runs the parts concurrently, and returns when all have ended. Throws the exception of the first part that
/// failed. A cancellation of the caller cancels each part. Unlike a parallel group of Asio, it allocates no
/// memory in order to tell the caller.
asio::awaitable<void> run_together(std::vector<asio::awaitable<void>> parts, cancel_others policy);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace skep {

namespace asio = boost::asio;

/// What the failure of one part does to the others.
enum class on_part_failure { go_on, cancel_others };

/// Runs the parts at the same time, and returns when all have ended. Throws what the first part that failed has thrown.
/// A cancellation of the caller cancels each part. Unlike a parallel group of Asio, it ends without taking memory.
asio::awaitable<void> run_together(std::vector<asio::awaitable<void>> parts, on_part_failure policy);

} // namespace skep

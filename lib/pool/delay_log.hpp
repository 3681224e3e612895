// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_parts.hpp"

#include <functional>
#include <string>

namespace skep {

/// Returns the rest of a line about an operation that has not ended; empty if there is nothing to say now.
using delay_description = std::function<std::string()>;

/// Runs `body`, and logs at level info while it takes long: "start has taken 6 s; ", followed by the
/// description. The first line comes after 1 s, further lines every 5 s. `operation` must live forever. On
/// the pool's strand.
asio::awaitable<void> log_delays(pool_parts& parts, const char* operation, delay_description describe,
                                 asio::awaitable<void> body);

/// Returns "waiting for words/0#1 (busy, pid 7, at translate), words/1#1 (starting for 6 s, pid 8: has not
/// said hello yet)" for the awaited workers, at most 8 of them with their names; empty without such workers.
std::string describe_awaited(const pool_parts& parts, const std::function<bool(const worker&)>& is_awaited);

} // namespace skep

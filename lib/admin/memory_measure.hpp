// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_status.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace skep {

/// Measures the proportional memory of a pool's processes, on a thread of its own: the kernel looks through
/// all of the memory. Returns JSON: {"proportional_bytes": sum, "template_bytes": of the template,
/// "workers": {id: bytes}}. Leaves out processes that are gone or may not be measured.
boost::asio::awaitable<std::string> measure_memory(pool_status status);

} // namespace skep

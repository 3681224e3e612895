// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "runtime/pool_context.hpp"

#include <boost/asio/any_io_executor.hpp>

namespace skep {

/// The context of a pool that runs on this machine, for real.
pool_context make_local_context(asio::any_io_executor executor);

} // namespace skep

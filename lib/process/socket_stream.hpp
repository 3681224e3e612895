// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "runtime/byte_stream.hpp"

#include <memory>

namespace skep {

/// Returns a byte stream over this end of a Unix socket pair. Takes ownership of `fd` unless it throws.
std::unique_ptr<byte_stream> make_socket_stream(const strand& executor, unique_fd& fd);

} // namespace skep

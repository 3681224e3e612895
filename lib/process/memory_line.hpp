// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "runtime/memory_line.hpp"

#include <memory>

namespace skep {

/// Returns the memory shared with a worker at the other end of a socket for whole messages.
std::unique_ptr<memory_line> make_memory_line(unique_fd socket);

} // namespace skep

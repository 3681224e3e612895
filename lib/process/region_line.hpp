// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "runtime/region_line.hpp"

#include <memory>

namespace skep {

/// Returns the memory shared with a worker at the other end of a socket for whole messages.
std::unique_ptr<region_line> make_region_line(unique_fd socket);

} // namespace skep

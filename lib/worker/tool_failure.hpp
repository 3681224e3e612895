// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/host_messages.hpp"

#include <exception>

namespace skep {

/// What a worker's code is told of what a tool has thrown.
tool_failure failure_of(const std::exception_ptr& problem);

} // namespace skep

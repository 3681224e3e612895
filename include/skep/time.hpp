// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <chrono>

namespace skep {

/// A span of time. Every duration in the public interface is of this type; any std::chrono literal converts.
using duration = std::chrono::nanoseconds;

/// A moment on the monotonic clock. Wall-clock jumps never move a deadline.
using time_point = std::chrono::steady_clock::time_point;

} // namespace skep

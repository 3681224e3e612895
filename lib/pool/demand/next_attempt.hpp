// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>

namespace skep {

/// How long what has failed for lack of memory waits.
inline constexpr duration before_next_attempt = std::chrono::milliseconds(100);

} // namespace skep

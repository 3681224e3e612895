// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep {

/// Returns a uniformly distributed id, never 0, unique for practical purposes. Callable from any thread.
std::uint64_t make_span_id();

} // namespace skep

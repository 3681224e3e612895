// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep {

/// Evenly spread, never 0, and none twice as far as anybody will see. From any thread.
std::uint64_t make_span_id();

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <string>

namespace skep {

/// 128 random bits from the kernel, in hexadecimal.
std::string make_token();

/// Evenly spread, never 0, and none twice as far as anybody will see. From any thread.
std::uint64_t make_span_id();

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep {

/// So much may a stream's worker send. Of bytes it may send a chunk too many: it has credit as long as any is left.
struct stream_credit {
    std::int64_t chunks = 0;
    std::int64_t bytes = 0;
};

} // namespace skep

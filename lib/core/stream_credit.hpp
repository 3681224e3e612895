// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep {

/// Remaining credit of a stream's worker. The worker may exceed the bytes by one chunk: it may send as long
/// as any credit remains.
struct stream_credit {
    std::int64_t chunks = 0;
    std::int64_t bytes = 0;
};

} // namespace skep

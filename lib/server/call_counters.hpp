// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>
#include <cstdint>

namespace skep {

/// The figures in a worker's pongs.
struct call_counters {
    std::atomic<std::uint64_t> in_flight{0};
    std::atomic<std::uint64_t> completed{0};
};

} // namespace skep

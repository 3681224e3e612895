// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <random>

namespace skep {

/// Returns a uniformly distributed number in [0, 1), with which policies vary their waits.
inline double random_share() {
    thread_local std::mt19937_64 source(std::random_device{}());
    return static_cast<double>(source() >> 11) * 0x1p-53; // uniform_real_distribution takes ten times as long
}

} // namespace skep

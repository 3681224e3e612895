// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <random>

namespace skep {

/// Returns a uniformly distributed number in [0, 1), with which policies vary their waits.
inline double random_share() {
    thread_local std::minstd_rand source(std::random_device{}());
    return std::uniform_real_distribution<double>()(source);
}

} // namespace skep

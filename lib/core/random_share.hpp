// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <random>

namespace skep {

/// Uniform in [0, 1): what policies take to vary their waits by.
inline double random_share() {
    thread_local std::minstd_rand source(std::random_device{}());
    return std::uniform_real_distribution<double>()(source);
}

} // namespace skep

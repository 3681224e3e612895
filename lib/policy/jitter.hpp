// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

namespace skep {

/// Returns `wait`, longer or shorter by up to `share` of itself. `random` is uniform in [0, 1).
inline duration with_jitter(duration wait, double share, double random) noexcept {
    const double factor = 1.0 + share * (2.0 * random - 1.0);
    return duration(static_cast<duration::rep>(static_cast<double>(wait.count()) * factor));
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>

namespace skep {

/// Returns the time in milliseconds, with its fraction.
inline double exact_ms(duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

} // namespace skep

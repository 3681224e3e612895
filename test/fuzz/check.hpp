// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdio>
#include <cstdlib>

namespace skep::fuzz {

/// A rule that every input must keep. Breaking it ends the program, which is how libFuzzer learns of a
/// finding.
inline void require(bool holds, const char* rule) noexcept {
    if (!holds) {
        std::fprintf(stderr, "broken: %s\n", rule);
        std::abort();
    }
}

} // namespace skep::fuzz

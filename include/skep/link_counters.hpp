// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep {

/// The faults of the bus on the links between clients and nodes. A link mends all of them by itself.
struct link_counters {
    std::uint64_t resumes = 0;      ///< synchronisations after a cut
    std::uint64_t gaps = 0;         ///< messages behind a lost message
    std::uint64_t duplicates = 0;   ///< messages whose bytes had arrived before
    std::uint64_t resent_bytes = 0; ///< bytes that this side has sent more than once

    link_counters& operator+=(const link_counters& other) noexcept {
        resumes += other.resumes;
        gaps += other.gaps;
        duplicates += other.duplicates;
        resent_bytes += other.resent_bytes;
        return *this;
    }
};

} // namespace skep

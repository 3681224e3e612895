// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

/// Why a worker is taken out of service for good.
struct retirement {
    enum class kind {
        unwell,    ///< for what it did
        oversized, ///< for the memory it holds
        recycle,   ///< a fresh one takes its place
        surplus    ///< it is no longer needed
    };

    kind what;
    std::string reason;
};

/// Whether the worker is to blame.
inline bool is_unplanned(const retirement& why) noexcept {
    return why.what == retirement::kind::unwell || why.what == retirement::kind::oversized;
}

} // namespace skep

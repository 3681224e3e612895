// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/worker_state.hpp>

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
    transition_reason fault = transition_reason::error; ///< if it is unwell: of which kind
};

/// Whether the worker is to blame.
inline bool is_unplanned(const retirement& why) noexcept {
    return why.what == retirement::kind::unwell || why.what == retirement::kind::oversized;
}

/// The same for programs.
inline transition_reason code_of(const retirement& why) noexcept {
    switch (why.what) {
    case retirement::kind::oversized: return transition_reason::memory_limit;
    case retirement::kind::recycle: return transition_reason::recycle;
    case retirement::kind::surplus: return transition_reason::scale_down;
    default: return why.fault;
    }
}

/// Whether a worker that leaves for `known` leaves for `fresh` from then on. A cause is only ever raised, to the one that
/// ends the worker: one that drains for the memory it holds may be ended for it before it has drained.
inline bool outranks(const retirement& fresh, const retirement& known) noexcept {
    return fresh.what == retirement::kind::oversized && known.what != retirement::kind::oversized;
}

} // namespace skep

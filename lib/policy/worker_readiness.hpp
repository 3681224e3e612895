// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/worker_state.hpp>

namespace skep {

/// The obstacles that keep a worker in service from taking calls. The worker takes calls only without any
/// obstacle.
enum class obstacle : unsigned {
    not_up = 1,    ///< the handshake is not complete
    degraded = 2,  ///< the worker failed a probe
    doubted = 4,   ///< the worker must be probed first
    suspended = 8, ///< suspended on request
    due = 16       ///< the next free place is for a probe
};

/// The obstacles of a worker in service, and the resulting state.
class worker_readiness {
public:
    void set(obstacle reason, bool holds) noexcept {
        const auto bit = static_cast<unsigned>(reason);
        obstacles_ = holds ? obstacles_ | bit : obstacles_ & ~bit;
        is_drained_ = is_drained_ && reason != obstacle::suspended;
    }
    bool has(obstacle reason) const noexcept { return (obstacles_ & static_cast<unsigned>(reason)) != 0; }
    bool has_none() const noexcept { return obstacles_ == 0; }

    /// Returns true if the worker gets no calls until a probe passes.
    bool awaits_probe() const noexcept { return has(obstacle::doubted) || has(obstacle::degraded); }

    /// The suspended worker has no more calls.
    void set_drained() noexcept { is_drained_ = true; }

    /// Sets whether calls or leases take every place.
    void set_full(bool is_full) noexcept { is_full_ = is_full; }
    bool is_full() const noexcept { return is_full_; }

    worker_state state() const noexcept {
        return has(obstacle::not_up)                     ? worker_state::starting
               : has(obstacle::suspended) && is_drained_ ? worker_state::suspended
               : has(obstacle::degraded)                 ? worker_state::degraded
               : is_full_                                ? worker_state::busy
                                                         : worker_state::ready;
    }

private:
    unsigned obstacles_ = static_cast<unsigned>(obstacle::not_up);
    bool is_full_ = false;
    bool is_drained_ = false;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/worker_state.hpp>

namespace skep {

/// Why a worker that stays takes no calls. It takes some only where no reason is left.
enum class obstacle : unsigned {
    not_up = 1,    ///< its handshake is not complete
    degraded = 2,  ///< it failed a probe
    doubted = 4,   ///< it is to be probed first
    suspended = 8, ///< somebody asked for that
    due = 16       ///< its next place that becomes free is for a probe
};

/// What keeps a worker that stays from calls, and the state that follows from that.
class worker_readiness {
public:
    void set(obstacle reason, bool holds) noexcept {
        const auto bit = static_cast<unsigned>(reason);
        obstacles_ = holds ? obstacles_ | bit : obstacles_ & ~bit;
        is_drained_ = is_drained_ && reason != obstacle::suspended;
    }
    bool has(obstacle reason) const noexcept { return (obstacles_ & static_cast<unsigned>(reason)) != 0; }
    bool has_none() const noexcept { return obstacles_ == 0; }

    /// The worker gets no calls until a probe has found it well.
    bool awaits_probe() const noexcept { return has(obstacle::doubted) || has(obstacle::degraded); }

    /// Suspended, it has no calls any more.
    void set_drained() noexcept { is_drained_ = true; }

    /// Whether every place is taken by a call or kept by a lease.
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

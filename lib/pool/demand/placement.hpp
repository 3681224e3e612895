// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/wait_queue.hpp"
#include "worker/worker.hpp"
#include <skep/pool_config.hpp>
#include <skep/scheduler.hpp>

#include <memory>
#include <vector>

namespace skep {

/// Knows the workers with room, and finds a place for a claim. A worker is found only while no older claim
/// waits for that worker alone: its claims are served in the order of their arrival. On the pool's strand.
class placement {
public:
    /// Throws error(invalid_config) if a custom scheduler is configured and cannot be made.
    placement(const pool_config& config, const wait_queue& queue);

    /// The worker takes calls from now on, or takes no more calls.
    void enlist(worker& new_worker);
    void remove(worker& leaver);

    /// The room at the worker may have changed.
    void refresh(worker& changed_worker);

    /// Returns null if no suitable worker has room. `may_be_pipelined`: permits a worker at capacity, if the
    /// claim is pipelinable.
    worker* pick(const claim& claimant, bool may_be_pipelined = true);

    bool is_any_up() const noexcept;

    /// Returns the worker in service in `slot`, or null.
    worker* in_slot(std::uint32_t slot) const noexcept {
        return slot < workers_.size() ? workers_[slot] : nullptr;
    }
    std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(workers_.size()); }

    /// Returns null if the worker is not in service, or is leaving.
    worker* find(const worker_id& id) const noexcept;

    static bool has_room(const worker& place, const claim& claimant) noexcept {
        const auto& calls = place.calls();
        if (claimant.wants_whole_worker) {
            return calls.accepts_call() && !calls.is_leased();
        }
        return calls.accepts_call() || (claimant.is_pipelinable && calls.accepts_pipelined_call());
    }

    template <class Function>
    void for_each_worker(Function&& function) const {
        for (const auto* each : workers_) {
            if (each != nullptr) {
                function(*each);
            }
        }
    }

private:
    worker* pick_whole(const claim& claimant) const noexcept;
    worker* pick_by(scheduler& chooser, const claim& claimant,
                    bool (worker_calls::*accepts)() const noexcept);

    const pool_config& config_;
    const wait_queue& waiting_;
    std::unique_ptr<scheduler> free_;      ///< workers that can begin a call now
    std::unique_ptr<scheduler> pipelined_; ///< workers at capacity that accept a pipelined call
    std::vector<worker*> workers_;         ///< in service, by slot
    std::vector<worker*> passed_over_;     ///< in pick_by(): offered, but for older claims
};

} // namespace skep

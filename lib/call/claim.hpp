// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/deadline_heap.hpp"
#include <skep/error.hpp>
#include <skep/scheduler.hpp>

#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace skep {

class worker;
struct claim;
struct call;

/// The state of the pool's workers, as far as it matters to waiting claims.
struct supply_outlook {
    std::string shortage;  ///< why workers are missing; empty if the pool is complete
    bool may_grow = false; ///< more workers are coming, or may be added for waiting calls
};

/// The owner of a claim: notified of its grant, its deadline and its failure, and of changes at its worker.
class claim_holder {
public:
    /// The claim has left the queue. `place`: a worker with room for the claim; null: the claim must be
    /// routed again.
    virtual void on_granted(claim& granted_claim, worker* place, time_point now) = 0;

    /// The deadline last set for the claim has come.
    virtual void on_due(claim& due_claim, const supply_outlook& supply) = 0;

    /// The pool has failed, and the claim with it. Lists that still contain `broken_claim` are cleared
    /// afterwards.
    virtual void on_breakdown(claim& broken_claim, const error& cause) noexcept = 0;

    /// The worker with the claim's places has changed. `has_left`: the worker takes no more calls.
    virtual void on_changed(claim&, bool /* has_left */) {}

protected:
    ~claim_holder() = default;
};

/// The slot of a call that waits until the worker of its session is found.
inline constexpr std::uint32_t slot_to_be_found = std::numeric_limits<std::uint32_t>::max();

/// A call, stream or lease that waits for a place at a worker. Its hooks link the claim into the wait queue
/// and the deadlines without allocation.
struct claim : boost::intrusive_ref_counter<claim>, boost::intrusive::list_base_hook<>, deadline_node {
    virtual ~claim() = default;

    /// Returns the scheduler's view of the claim.
    virtual claim_view view() const noexcept = 0;

    /// Returns null if the claim is not a call.
    virtual call* as_call() noexcept { return nullptr; }

    /// Destroys the continuations of the waiting callers. Called when no coroutine will ever run again.
    virtual void forget() noexcept = 0;

    /// Hook for the pool's list of open claims. No other list uses the hook.
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> open;
    claim_holder* holder = nullptr;
    worker* assigned_worker = nullptr; ///< worker with the claim's place; null for a private call
    time_point submitted;
    std::optional<std::uint32_t> slot; ///< the only suitable slot; empty = any slot
    std::int64_t order =
        std::numeric_limits<std::int64_t>::max(); ///< position in the wait queue; initially after all others
    bool is_pipelinable = true;      ///< false: the call ahead at a worker may wait for this claim
    bool uses_session = false;       ///< counted by the pool as a use of its session
    bool wants_whole_worker = false; ///< needs all places of one worker
};

using claim_ptr = boost::intrusive_ptr<claim>;

} // namespace skep

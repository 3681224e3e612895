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

/// The pool's workers, as far as they matter to claims that wait.
struct supply_outlook {
    std::string shortage;  ///< why there are fewer than there should be; empty if there are not
    bool may_grow = false; ///< there will be more soon, or may be for the sake of calls that wait
};

/// Whose claim it is: learns what becomes of it.
class claim_holder {
public:
    /// It waits no more: `place` has room for it, or, if that is null, its way to a worker is to be looked for anew.
    virtual void on_granted(claim& granted_claim, worker* place, time_point now) = 0;

    /// The time it was last entered for in the deadlines has come.
    virtual void on_due(claim& due_claim, const supply_outlook& supply) = 0;

    /// The pool has failed, and the claim with it; `broken_claim` is in no list any more that counts.
    virtual void on_breakdown(claim& broken_claim, const error& cause) noexcept = 0;

    /// The worker that it keeps places of has changed, or takes no calls any more.
    virtual void on_changed(claim&, bool /* has_left */) {}

protected:
    ~claim_holder() = default;
};

/// What waits for a place at a worker. Its hooks tie it into the wait queue and the deadlines without allocation.
struct claim : boost::intrusive_ref_counter<claim>, boost::intrusive::list_base_hook<>, deadline_node {
    virtual ~claim() = default;

    /// What a scheduler sees of it.
    virtual claim_view view() const noexcept = 0;

    /// Null if it is something else, and is not served like one.
    virtual call* as_call() noexcept { return nullptr; }

    /// Destroys what would resume those who wait for it. For when no coroutine will ever run again.
    virtual void forget() noexcept = 0;

    /// Among all that the pool has not completed. Links nothing else.
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> open;
    claim_holder* holder = nullptr;
    worker* assigned_worker = nullptr; ///< that it has a place of; null for a private call
    time_point submitted;
    std::optional<std::uint32_t> slot; ///< the only one that will do; any does if empty
    std::int64_t order =
        std::numeric_limits<std::int64_t>::max(); ///< its place in the wait queue; at first after all
    bool is_pipelinable = true;                   ///< false: what it would lie behind may wait for it
    bool uses_session = false;                    ///< the pool counts it as a use of its session
    bool wants_whole_worker = false;              ///< all places of one worker
};

using claim_ptr = boost::intrusive_ptr<claim>;

} // namespace skep

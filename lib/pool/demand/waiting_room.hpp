// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/relaxed_value.hpp"
#include "pool/demand/batch_maker.hpp"
#include "pool/demand/deadline_watch.hpp"
#include "pool/demand/lease_claim.hpp"
#include "pool/demand/placement.hpp"
#include "pool/demand/wait_queue.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// Claims that wait for places at workers: at any worker, at one worker, or in a lease. A place goes to the
/// oldest claim that it suits. Tells the holder of a claim when the claim is granted or due; the holder does
/// the rest. On the pool's strand.
class waiting_room {
public:
    explicit waiting_room(const worker_surroundings& surroundings)
        : context_(surroundings.context),
          placement_(surroundings.config, queue_),
          batches_(surroundings.context, queue_),
          deadlines_(surroundings.context) {}

    // Workers. A removed worker takes no more calls: claims bound to it, and leases with places at it, are
    // notified.
    void enlist(worker& new_worker);
    void remove(worker& leaver);
    void refresh(worker& changed_worker) { placement_.refresh(changed_worker); }

    /// Grants the waiting claims, as far as the worker has room.
    void serve(worker& place);

    /// The same for every worker, after the end of a claim that held up others.
    void serve_all();

    /// Routes the claims bound to `slot` again, because their worker may have changed.
    void reroute(std::uint32_t slot);

    /// Routes the calls again that wait until the worker of `session` is found.
    void reroute(const std::string& session);

    /// Returns a place for a new claim; null if the claim must wait.
    worker* place_for(const claim& new_claim);

    /// Returns true if no older claim waits for a place at the worker. A call may overtake a claim whose
    /// batch is to grow for longer than a moment, but no older call of its session.
    bool is_next_for(const worker& place, claim& claimant);

    batch_maker& batches() noexcept { return batches_; }

    /// Removes the calls that go to `place` together with `first`, which is not waiting, and returns them.
    std::vector<call_ptr> leave_with(const call& first, const worker& place);

    // Queue a claim: last, first, or at its place in the order of arrival.
    void join(claim& waiting_claim) { queue_.push_back(&waiting_claim); }
    void join_first(claim& waiting_claim) { queue_.push_front(&waiting_claim); }
    void rejoin(claim& waiting_claim) { queue_.put_back(&waiting_claim); }

    // The same for a place of a lease.
    void join(call& waiting_call, lease_claim& lease);
    call_ptr next_of(lease_claim& lease);

    /// Removes a waiting claim.
    void leave(claim& waiting_claim) noexcept { queue_.remove(waiting_claim); }
    void leave(call& waiting_call) noexcept;

    const placement& places() const noexcept { return placement_; }
    wait_queue& queue() noexcept { return queue_; }
    const wait_queue& queue() const noexcept { return queue_; }
    deadline_watch& deadlines() noexcept { return deadlines_; }

    /// Adds to the open claims: all claims that the pool has not completed, including claims on their way
    /// between two lists.
    void open(claim& new_claim) noexcept { open_.push_back(new_claim); }

    /// Returns false if the claim was completed before, with the pool's failure.
    static bool close(claim& ended_claim) noexcept {
        const bool was_open = ended_claim.open.is_linked();
        ended_claim.open.unlink();
        return was_open;
    }

    /// Closes and returns the first open claim; null if there is none.
    claim_ptr close_first() noexcept;

    /// Drops every claim that waits or keeps places.
    void clear() noexcept;

    /// The leases that have or had a worker, and have not been given back.
    claim_list<lease_claim>& leases() noexcept { return leases_; }
    const claim_list<lease_claim>& leases() const noexcept { return leases_; }

    /// Includes calls that wait for a place of a lease. Thread safety: may be called from any thread.
    std::size_t size() const noexcept { return queue_.size() + waiting_for_leases_; }

    /// Returns the number of claims that wait where the call does, or would.
    std::size_t waiting_with(const call& subject) const noexcept {
        const auto* const lease = lease_of(subject);
        return lease != nullptr ? lease->waiting.size() : queue_.size();
    }

private:
    void reroute(claim_list<claim> claims);
    void notify_leases_of(const worker& changed_worker, bool has_left);
    claim* next_for(const worker& place);
    claim* next_behind_held(const worker& place);
    bool follows_unbound(claim& bound_claim);
    bool is_first_held(const worker& place);
    std::pair<claim*, worker*> next_with_place();

    const pool_context& context_;
    wait_queue queue_;
    placement placement_;
    batch_maker batches_;
    deadline_watch deadlines_;
    claim_list<lease_claim> leases_;
    boost::intrusive::list<
        claim,
        boost::intrusive::member_hook<
            claim,
            boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
            &claim::open>,
        boost::intrusive::constant_time_size<false>>
        open_;
    relaxed_value<std::size_t> waiting_for_leases_;
};

} // namespace skep

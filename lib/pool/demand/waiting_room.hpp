// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/demand/deadline_watch.hpp"
#include "pool/demand/lease_claim.hpp"
#include "pool/demand/placement.hpp"
#include "pool/demand/wait_queue.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace skep {

/// Where claims wait for places at workers: for any worker, for one of them, or for a place that a lease keeps. A place
/// goes to the oldest claim that it would do for. Claims are sought for, granted and due; what becomes of them is up to
/// their holders. On the pool's strand.
class waiting_room {
public:
    explicit waiting_room(const worker_surroundings& surroundings)
        : context_(surroundings.context),
          placement_(surroundings.config, queue_),
          deadlines_(surroundings.context) {}

    // Workers. One that is removed takes no calls any more: what has waited for it alone, or has places of it, is told.
    void enlist(worker& new_worker);
    void remove(worker& leaver);
    void refresh(worker& changed_worker) { placement_.refresh(changed_worker); }

    /// Claims that wait are given to the worker, as far as it has room.
    void serve(worker& place);

    /// The same for every worker: one who has held up others waits no more.
    void serve_all();

    /// What has waited for the worker in that slot alone may have to go elsewhere by now.
    void reroute(std::uint32_t slot);

    /// A place for a claim that comes now; null if it has to wait.
    worker* place_for(const claim& new_claim);

    // Lets a claim wait: as the last, as the first, or where it was in the order of arrival.
    void join(claim& waiting_claim) { queue_.push_back(&waiting_claim); }
    void join_first(claim& waiting_claim) { queue_.push_front(&waiting_claim); }
    void rejoin(claim& waiting_claim) { queue_.put_back(&waiting_claim); }

    // The same for a place that a lease keeps.
    void join(call& waiting_call, lease_claim& lease);
    call_ptr next_of(lease_claim& lease);

    /// Takes out a claim that waits.
    void leave(claim& waiting_claim) noexcept { queue_.remove(waiting_claim); }
    void leave(call& waiting_call) noexcept;

    const placement& places() const noexcept { return placement_; }
    wait_queue& queue() noexcept { return queue_; }
    const wait_queue& queue() const noexcept { return queue_; }
    deadline_watch& deadlines() noexcept { return deadlines_; }

    /// All claims of the pool that are not completed: wherever they are, or on their way between two places.
    void open(claim& new_claim) noexcept { open_.push_back(new_claim); }

    /// False if it was completed already, with the pool's failure.
    static bool close(claim& ended_claim) noexcept {
        const bool was_open = ended_claim.open.is_linked();
        ended_claim.open.unlink();
        return was_open;
    }

    /// The first of them, which is closed with that; null if there is none.
    claim_ptr close_first() noexcept;

    /// Forgets every claim that waits or keeps places.
    void clear() noexcept;

    /// All that have a worker, or had one, and have not been given back.
    claim_list<lease_claim>& leases() noexcept { return leases_; }
    const claim_list<lease_claim>& leases() const noexcept { return leases_; }

    /// Those for a place of a lease included.
    std::size_t size() const noexcept { return queue_.size() + waiting_for_leases_; }

    /// How many wait where the call does, or would.
    std::size_t waiting_with(const call& subject) const noexcept {
        const auto* const lease = lease_of(subject);
        return lease != nullptr ? lease->waiting.size() : queue_.size();
    }

private:
    void notify_leases_of(const worker& changed_worker, bool has_left);

    const pool_context& context_;
    wait_queue queue_;
    placement placement_;
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
    std::size_t waiting_for_leases_ = 0;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/claim_list.hpp"
#include "core/relaxed_value.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skep {

/// Claims that wait for a place, first come, first served: unbound claims, for any worker, and the claims
/// bound to each slot. Claims with `slot_to_be_found` wait for no place yet. Adding, finding and removing a
/// claim is O(1), except oldest() and put_back(), and allocates nothing for an unbound claim.
/// Thread safety: any thread may call size().
class wait_queue {
public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    /// Returns true if no unbound claim waits.
    bool is_common_empty() const noexcept { return common_.empty(); }
    std::size_t common_size() const noexcept { return common_.size(); }

    /// Returns the number of unbound calls that have a session.
    std::size_t unbound_of_sessions() const noexcept { return unbound_of_sessions_; }

    void push_back(claim_ptr new_claim);

    void clear() noexcept;

    /// Adds a claim before all others: it has waited before.
    void push_front(claim_ptr new_claim);

    /// `removed_claim` must be in the queue.
    claim_ptr remove(claim& removed_claim) noexcept;

    /// Returns a claim to its place in the order of arrival, with another slot perhaps.
    void put_back(claim_ptr removed_claim);

    /// Returns the first claim bound to `slot`, or null.
    claim* first_bound_to(std::uint32_t slot) noexcept;

    /// Returns the next claim for a place in `slot`, bound or unbound, or null.
    claim* next_for(std::uint32_t slot) noexcept;

    // Return the first claim, in the order of arrival, for which `is_wanted` is true, or null: of the claims
    // for a place in `slot`, bound or unbound, or of the unbound claims. `is_wanted` must not change the
    // queue.
    template <class Predicate>
    claim* find_for(std::uint32_t slot, Predicate&& is_wanted) {
        auto* bound = first_bound_to(slot);
        auto* unbound = common_.empty() ? nullptr : &common_.front();
        while (bound != nullptr || unbound != nullptr) {
            const bool is_bound_next =
                unbound == nullptr || (bound != nullptr && bound->order < unbound->order);
            auto*& next = is_bound_next ? bound : unbound;
            if (is_wanted(*next)) {
                return next;
            }
            next = (is_bound_next ? by_slot_[slot] : common_).next_of(*next);
        }
        return nullptr;
    }
    template <class Predicate>
    claim* find_unbound(Predicate&& is_wanted) {
        return common_.find(is_wanted);
    }

    // Return the number of the claims whose slot is to be found, and the first with a true `is_wanted`, or
    // null.
    std::size_t unplaced_size() const noexcept { return unplaced_.size(); }
    template <class Predicate>
    claim* find_unplaced(Predicate&& is_wanted) {
        return unplaced_.find(is_wanted);
    }

    /// Returns true if a claim older than `other` is bound to `slot`.
    bool has_older_for(std::uint32_t slot, const claim& other) const noexcept {
        return slot < by_slot_.size() && !by_slot_[slot].empty() &&
               by_slot_[slot].front().order < other.order;
    }

    /// Returns true if no claim older than `other` waits for a place in `slot`.
    bool is_next_for(std::uint32_t slot, const claim& other) const noexcept {
        return !has_older_for(slot, other) && (common_.empty() || common_.front().order > other.order);
    }

    /// Returns the first unbound claim. Precondition: there is one.
    claim& front() noexcept { return common_.front(); }

    /// Returns the claim that has waited longest. Precondition: not empty(). O(slots).
    claim& oldest() noexcept;

    /// `function` may remove its argument from the queue, but no other claim.
    template <class Function>
    void for_each(Function&& function) {
        common_.for_each(function);
        unplaced_.for_each(function);
        for (auto& each : by_slot_) {
            each.for_each(function);
        }
    }

private:
    using list = claim_list<claim>;

    list& list_of(const claim& waiting_claim);
    void count(claim& new_claim) noexcept;

    list common_;
    list unplaced_;
    std::vector<list> by_slot_;
    std::size_t unbound_of_sessions_ = 0;
    relaxed_value<std::size_t> size_;
    std::int64_t first_ = 0; ///< orders in use are in [first_, last_)
    std::int64_t last_ = 0;
};

} // namespace skep

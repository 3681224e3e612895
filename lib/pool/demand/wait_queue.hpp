// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/claim_list.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skep {

/// Claims that wait for a place, first come, first served: those that any worker will do for, and for each slot those
/// that only its worker will do for. Adding, finding and removing a claim is O(1), but for oldest() and put_back(), and
/// allocates nothing for a claim on any worker.
class wait_queue {
public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    /// No claim waits that any worker would do for.
    bool is_common_empty() const noexcept { return common_.empty(); }
    std::size_t common_size() const noexcept { return common_.size(); }

    void push_back(claim_ptr new_claim);

    void clear() noexcept;

    /// Before all others: it has waited before.
    void push_front(claim_ptr new_claim);

    /// `removed_claim` must be in the queue.
    claim_ptr remove(claim& removed_claim) noexcept;

    /// To where it has been in the order of arrival, with another slot perhaps.
    void put_back(claim_ptr removed_claim);

    /// The first of those that only the worker in `slot` will do for; null if there is none.
    claim* first_bound_to(std::uint32_t slot) noexcept;

    /// The claim that is next at a place in `slot`; null if there is none.
    claim* next_for(std::uint32_t slot) noexcept;

    /// Whether a claim that came before `other` waits for the worker in `slot` alone.
    bool has_older_for(std::uint32_t slot, const claim& other) const noexcept {
        return slot < by_slot_.size() && !by_slot_[slot].empty() &&
               by_slot_[slot].front().order < other.order;
    }

    /// Whether no claim that came before `other` waits for a place in `slot`.
    bool is_next_for(std::uint32_t slot, const claim& other) const noexcept {
        return !has_older_for(slot, other) && (common_.empty() || common_.front().order > other.order);
    }

    /// The first of those that any worker will do for; there must be one.
    claim& front() noexcept { return common_.front(); }

    /// The one that has waited longest; there must be one. O(slots).
    claim& oldest() noexcept;

    /// `function` may take the claim that it is given out of the queue, and no other.
    template <class Function>
    void for_each(Function&& function) {
        common_.for_each(function);
        for (auto& each : by_slot_) {
            each.for_each(function);
        }
    }

private:
    using list = claim_list<claim>;

    list& list_of(const claim& waiting_claim);

    list common_;
    std::vector<list> by_slot_;
    std::size_t size_ = 0;
    std::int64_t first_ = 0; ///< orders in use are in [first_, last_)
    std::int64_t last_ = 0;
};

} // namespace skep

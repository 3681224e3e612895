// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/claim.hpp"
#include "core/relaxed_value.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <iterator>
#include <utility>

namespace skep {

/// An ordered list of claims of one kind, linked through the claims themselves. No operation allocates.
/// Adding at an end, taking and removing are O(1); insert() is linear. Holds a reference to each claim.
/// Thread safety: any thread may call size(); it is exact on the strand.
template <class Claim>
class claim_list {
public:
    using pointer = boost::intrusive_ptr<Claim>;

    claim_list() = default;
    ~claim_list() { clear(); }
    claim_list(claim_list&& other) noexcept : list_(std::move(other.list_)), size_(other.size()) {
        other.size_ = 0;
    }
    claim_list& operator=(claim_list&&) = delete;

    bool empty() const noexcept { return list_.empty(); }
    void clear() noexcept {
        while (!list_.empty()) {
            pop_front();
        }
    }
    std::size_t size() const noexcept { return size_; }

    /// `function` may remove its argument from the list, but no other claim.
    template <class Function>
    void for_each(Function&& function) {
        for (auto at = list_.begin(); at != list_.end();) {
            auto& each = static_cast<Claim&>(*at++);
            function(each);
        }
    }

    /// Calls `function` for the claims in order, until the result is true. Returns the claim with that
    /// result, or null. `function` must not change the list.
    template <class Function>
    Claim* find(Function&& function) {
        for (auto& each : list_) {
            if (function(static_cast<Claim&>(each))) {
                return static_cast<Claim*>(&each);
            }
        }
        return nullptr;
    }

    /// Returns the claim behind `listed_claim`, or null.
    Claim* next_of(Claim& listed_claim) noexcept {
        const auto next = std::next(list_.iterator_to(listed_claim));
        return next == list_.end() ? nullptr : &static_cast<Claim&>(*next);
    }

    Claim& front() noexcept { return static_cast<Claim&>(list_.front()); }
    const Claim& front() const noexcept { return static_cast<const Claim&>(list_.front()); }

    void push_back(pointer new_claim) noexcept {
        list_.push_back(*new_claim.detach());
        ++size_;
    }
    void push_front(pointer new_claim) noexcept {
        list_.push_front(*new_claim.detach());
        ++size_;
    }
    pointer pop_front() noexcept { return remove(front()); }

    /// Inserts before the claims of a higher order.
    void insert(pointer new_claim) noexcept {
        auto next = list_.empty() || list_.back().order < new_claim->order ? list_.end() : list_.begin();
        while (next != list_.end() && next->order < new_claim->order) {
            ++next;
        }
        list_.insert(next, *new_claim.detach());
        ++size_;
    }

    /// `removed_claim` must be in this list.
    pointer remove(Claim& removed_claim) noexcept {
        list_.erase(list_.iterator_to(removed_claim));
        --size_;
        return {&removed_claim, false};
    }

private:
    boost::intrusive::list<claim, boost::intrusive::constant_time_size<false>> list_;
    relaxed_value<std::size_t> size_;
};

} // namespace skep

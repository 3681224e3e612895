// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/wait_queue.hpp"

#include "call/call.hpp"

namespace skep {

namespace {

bool is_unbound_of_session(claim& waiting_claim) noexcept {
    const auto* const subject = waiting_claim.slot ? nullptr : waiting_claim.as_call();
    return subject != nullptr && subject->has_session();
}

} // namespace

void wait_queue::push_back(claim_ptr new_claim) {
    auto& list = list_of(*new_claim);
    new_claim->order = last_++;
    count(*new_claim);
    list.push_back(std::move(new_claim));
}

void wait_queue::clear() noexcept {
    common_.clear();
    unplaced_.clear();
    by_slot_.clear();
    unbound_of_sessions_ = 0;
    size_ = 0;
}

void wait_queue::push_front(claim_ptr new_claim) {
    auto& list = list_of(*new_claim);
    new_claim->order = --first_;
    count(*new_claim);
    list.push_front(std::move(new_claim));
}

claim_ptr wait_queue::remove(claim& removed_claim) noexcept {
    --size_;
    unbound_of_sessions_ -= is_unbound_of_session(removed_claim) ? 1 : 0;
    return list_of(removed_claim).remove(removed_claim);
}

void wait_queue::put_back(claim_ptr removed_claim) {
    auto& list = list_of(*removed_claim);
    count(*removed_claim);
    list.insert(std::move(removed_claim));
}

void wait_queue::count(claim& new_claim) noexcept {
    ++size_;
    unbound_of_sessions_ += is_unbound_of_session(new_claim) ? 1 : 0;
}

claim* wait_queue::first_bound_to(std::uint32_t slot) noexcept {
    return slot < by_slot_.size() && !by_slot_[slot].empty() ? &by_slot_[slot].front() : nullptr;
}

claim* wait_queue::next_for(std::uint32_t slot) noexcept {
    claim* const own = first_bound_to(slot);
    claim* const common = common_.empty() ? nullptr : &common_.front();
    if (own == nullptr || common == nullptr) {
        return own != nullptr ? own : common;
    }
    return own->order < common->order ? own : common;
}

claim& wait_queue::oldest() noexcept {
    list* best = nullptr;
    const auto consider = [&](list& each) {
        if (!each.empty() && (best == nullptr || each.front().order < best->front().order)) {
            best = &each;
        }
    };
    consider(common_);
    consider(unplaced_);
    for (auto& each : by_slot_) {
        consider(each);
    }
    return best->front();
}

wait_queue::list& wait_queue::list_of(const claim& waiting_claim) {
    if (!waiting_claim.slot) {
        return common_;
    }
    if (*waiting_claim.slot == slot_to_be_found) {
        return unplaced_;
    }
    while (*waiting_claim.slot >= by_slot_.size()) {
        by_slot_.emplace_back();
    }
    return by_slot_[*waiting_claim.slot];
}

} // namespace skep

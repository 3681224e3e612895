// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_budget.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace skep {

std::size_t worker_budget::acquire_up_to(std::size_t wanted_count) noexcept {
    auto left = left_.load(std::memory_order_relaxed);
    while (
        !left_.compare_exchange_weak(left, left - std::min(left, wanted_count), std::memory_order_relaxed)) {}
    return std::min(left, wanted_count);
}

bool worker_budget::acquire_all(std::size_t wanted_count) noexcept {
    auto left = left_.load(std::memory_order_relaxed);
    while (left >= wanted_count) {
        if (left_.compare_exchange_weak(left, left - wanted_count, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

worker_share::worker_share(worker_share&& other) noexcept
    : budget_(std::move(other.budget_)),
      least_(std::exchange(other.least_, 0)),
      held_(std::exchange(other.held_, 0)) {}

worker_share& worker_share::operator=(worker_share&& other) noexcept {
    worker_share before(std::move(other));
    std::swap(budget_, before.budget_);
    std::swap(least_, before.least_);
    std::swap(held_, before.held_);
    return *this;
}

bool worker_share::reserve(std::size_t least) noexcept {
    if (budget_ && least > held_) {
        if (!budget_->acquire_all(least - held_)) {
            return false;
        }
        held_ = least;
    }
    least_ = least;
    return true;
}

std::size_t worker_share::grow_to(std::size_t wanted_count) noexcept {
    if (!budget_ || wanted_count <= held_) {
        return wanted_count;
    }
    held_ += budget_->acquire_up_to(wanted_count - held_);
    return held_;
}

void worker_share::shrink_to(std::size_t count) noexcept {
    const auto kept = std::max(count, least_);
    if (budget_ && kept < held_) {
        budget_->release(held_ - kept);
        held_ = kept;
    }
}

void worker_share::release() noexcept {
    least_ = 0;
    shrink_to(0);
}

std::size_t worker_share::most() const noexcept {
    return budget_ ? held_ + budget_->left() : std::numeric_limits<std::size_t>::max();
}

} // namespace skep

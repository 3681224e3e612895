// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/retry_budget.hpp"

#include <algorithm>

namespace skep {

void retry_budget::succeeded() noexcept {
    tokens_ = std::min(most_, tokens_ + ratio_);
}

void retry_budget::provide(std::size_t tokens) noexcept {
    const auto more = static_cast<double>(tokens) - most_;
    if (most_ > 0 && more > 0) {
        most_ += more;
        tokens_ += more;
    }
}

bool retry_budget::spend() noexcept {
    tokens_ = std::max(0.0, tokens_ - 1.0);
    return most_ == 0 || tokens_ > most_ / 2;
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/poison.hpp"

#include <algorithm>

namespace skep {

int poison_list::blame(std::uint64_t fingerprint, time_point now) {
    forget_old(now);
    if (limit_ == 0) {
        return 0;
    }
    suspect blamed{fingerprint, 1, now};
    const auto known = find(fingerprint);
    if (known != suspects_.end()) {
        blamed.crashes += known->crashes;
        suspects_.erase(known);
    } else if (suspects_.size() == most) {
        suspects_.pop_front();
    }
    suspects_.push_back(blamed);
    return blamed.crashes;
}

bool poison_list::is_poison(std::uint64_t fingerprint, time_point now) noexcept {
    forget_old(now);
    const auto known = find(fingerprint);
    return known != suspects_.end() && known->crashes >= limit_;
}

bool poison_list::refuses_any() const noexcept {
    return std::any_of(suspects_.begin(), suspects_.end(),
                       [this](const suspect& each) { return each.crashes >= limit_; });
}

std::deque<poison_list::suspect>::iterator poison_list::find(std::uint64_t fingerprint) noexcept {
    return std::find_if(suspects_.begin(), suspects_.end(),
                        [&](const suspect& each) { return each.fingerprint == fingerprint; });
}

void poison_list::forget_old(time_point now) noexcept {
    while (!suspects_.empty() && now - suspects_.front().last >= memory_) {
        suspects_.pop_front();
    }
}

} // namespace skep

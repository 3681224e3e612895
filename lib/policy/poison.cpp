// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/poison.hpp"

#include <algorithm>

namespace skep {

int poison_list::blame(const input& call_input, time_point now) {
    drop_old(now);
    if (limit_ == 0) {
        return 0;
    }
    suspect blamed{call_input, 1, now};
    const auto known = find(call_input);
    if (known != suspects_.end()) {
        blamed.crashes += known->crashes;
        suspects_.erase(known);
    } else if (suspects_.size() == most) {
        suspects_.pop_front();
    }
    suspects_.push_back(blamed);
    return blamed.crashes;
}

bool poison_list::is_poison(const input& call_input, time_point now) noexcept {
    drop_old(now);
    const auto known = find(call_input);
    return known != suspects_.end() && known->crashes >= limit_;
}

bool poison_list::refuses_any() const noexcept {
    return std::any_of(suspects_.begin(), suspects_.end(),
                       [this](const suspect& each) { return each.crashes >= limit_; });
}

bool poison_list::may_refuse(std::uint64_t outline) const noexcept {
    return std::any_of(suspects_.begin(), suspects_.end(), [&](const suspect& each) {
        return each.crashes >= limit_ && each.had.outline == outline;
    });
}

std::deque<poison_list::suspect>::iterator poison_list::find(const input& call_input) noexcept {
    return std::find_if(suspects_.begin(), suspects_.end(),
                        [&](const suspect& each) { return each.had == call_input; });
}

void poison_list::drop_old(time_point now) noexcept {
    while (!suspects_.empty() && now - suspects_.front().last >= memory_) {
        suspects_.pop_front();
    }
}

} // namespace skep

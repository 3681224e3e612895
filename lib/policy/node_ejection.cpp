// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/node_ejection.hpp"

#include <algorithm>

namespace skep {

bool node_ejection::answered(time_point link_begin, time_point now) noexcept {
    if (now - link_begin >= limits_.proof) {
        row_ = 0;
    }
    if (!until_) {
        return false;
    }
    until_.reset();
    readmitted_ = now;
    return true;
}

bool node_ejection::lost(bool may_eject, time_point now) noexcept {
    ++row_;
    const bool is_due = until_ || (may_eject && row_ >= limits_.row);
    if (is_due) {
        eject(now);
    }
    return is_due;
}

/// A node that was well for a shorter time than the last ejection took is out for longer.
void node_ejection::eject(time_point now) noexcept {
    const bool is_relapse = until_ || (time_ > duration::zero() && now - readmitted_ < time_);
    time_ = is_relapse ? std::min(2 * time_, limits_.longest) : limits_.shortest;
    until_ = now + time_;
    row_ = 0;
}

} // namespace skep

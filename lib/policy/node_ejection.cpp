// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/node_ejection.hpp"

#include <algorithm>

namespace skep {

void node_ejection::sent(time_point now) noexcept {
    is_tried_ = is_tried_ || (until_ && now >= *until_);
}

bool node_ejection::succeeded(time_point now) noexcept {
    begin_window(now);
    ++calls_;
    row_ = 0;
    is_tried_ = false;
    if (!until_ || now < *until_) {
        return false; // a call that was sent before the ejection
    }
    until_.reset();
    readmitted_ = now;
    return true;
}

bool node_ejection::lost(bool may_eject, time_point now) noexcept {
    begin_window(now);
    ++calls_;
    ++losses_;
    ++row_;
    is_tried_ = false;
    if (until_ && now < *until_) {
        return false; // likewise
    }
    if (until_ || (may_eject && is_too_bad())) {
        eject(now);
        return true;
    }
    return false;
}

bool node_ejection::is_too_bad() const noexcept {
    return row_ >= limits_.row || (calls_ >= limits_.sample && 2 * losses_ > calls_);
}

/// A node that was well for a shorter time than the last ejection took is out for longer.
void node_ejection::eject(time_point now) noexcept {
    const bool is_relapse = until_ || (time_ > duration::zero() && now - readmitted_ < time_);
    time_ = is_relapse ? std::min(2 * time_, limits_.longest) : limits_.shortest;
    until_ = now + time_;
    row_ = calls_ = losses_ = 0;
}

void node_ejection::begin_window(time_point now) noexcept {
    if (now - window_begin_ >= limits_.window) {
        window_begin_ = now;
        calls_ = losses_ = 0;
    }
}

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace skep {

struct ejection_limits {
    std::size_t row = 5;     ///< losses in a row that eject a node
    std::size_t sample = 20; ///< calls within `window`, of which more than half were lost
    duration window = std::chrono::seconds(10);
    duration shortest = std::chrono::seconds(5); ///< time without calls; doubles with each ejection
    duration longest = std::chrono::minutes(5);
};

/// Decides when a client sends no more calls to a node that loses them. After a time without calls, one call
/// at a time tries whether the node is well again.
class node_ejection {
public:
    explicit node_ejection(const ejection_limits& limits) noexcept : limits_(limits) {}

    /// Returns true if the node may have a call.
    bool is_open(time_point now) const noexcept { return !until_ || (now >= *until_ && !is_tried_); }

    bool is_ejected() const noexcept { return until_.has_value(); }

    /// Returns the end of the time without calls, or nullopt if the node is not ejected.
    std::optional<time_point> until() const noexcept { return until_; }

    /// Counts a call that is sent.
    void sent(time_point now) noexcept;

    // The end of a call that was sent. Both return true if the node's ejection begins or ends.
    bool succeeded(time_point now) noexcept;
    /// `may_eject`: enough other nodes are left.
    bool lost(bool may_eject, time_point now) noexcept;
    /// The call has ended in a way that says nothing of the node.
    void dropped() noexcept { is_tried_ = false; }

private:
    bool is_too_bad() const noexcept;
    void eject(time_point now) noexcept;
    void begin_window(time_point now) noexcept;

    ejection_limits limits_;
    std::size_t row_ = 0;    ///< losses since the last success
    std::size_t calls_ = 0;  ///< that ended in the window
    std::size_t losses_ = 0; ///< in the window
    time_point window_begin_{};
    duration time_{};         ///< of the last ejection
    time_point readmitted_{}; ///< after it
    std::optional<time_point> until_;
    bool is_tried_ = false; ///< a call tries the ejected node
};

} // namespace skep

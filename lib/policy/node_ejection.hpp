// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace skep {

struct ejection_limits {
    std::size_t row = 5;                         ///< lost links in a row
    duration proof = std::chrono::seconds(10);   ///< a link that then answers calls ends the row
    duration shortest = std::chrono::seconds(5); ///< time without links; doubles with each ejection
    duration longest = std::chrono::minutes(5);
};

/// Decides when a client opens no link to a node because links to the node are lost. A link is lost if it
/// ends while calls are on it, or if the node breaks the protocol; the orderly end of a link and a refusal
/// say nothing of the node. After a time without links, one link tries whether the node is well again.
///
/// Links count, and not calls: a node that is started again loses all of its calls at once, and is as good as
/// another. A share of lost links is no further rule: a row of losses goes on until a link has held.
class node_ejection {
public:
    explicit node_ejection(const ejection_limits& limits = {}) noexcept : limits_(limits) {}

    /// Returns true if the node is ejected, or on trial.
    bool is_ejected() const noexcept { return until_.has_value(); }

    /// Returns the end of the time without links. Precondition: the node is ejected.
    time_point until() const noexcept { return *until_; }

    /// The node has answered a call on the link that began then. Returns true if the ejection ends.
    bool answered(time_point link_begin, time_point now) noexcept;

    /// A link was lost. `may_eject`: enough other nodes are left. Returns true if an ejection begins.
    bool lost(bool may_eject, time_point now) noexcept;

private:
    void eject(time_point now) noexcept;

    ejection_limits limits_;
    std::size_t row_ = 0;     ///< lost links since a link has held
    duration time_{};         ///< of the last ejection
    time_point readmitted_{}; ///< after it
    std::optional<time_point> until_;
};

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/supply/roster.hpp"

namespace skep {

/// Has as many slots wanted as there are to be workers, and decides who goes where there are too many. On the pool's
/// strand.
class sizing {
public:
    explicit sizing(roster& workers) : roster_(workers) {}

    /// Has that many workers from now on. Fewer: those that wait to be started go first; then, unless `idle_only`, those
    /// that start; then the idle ones, the longest idle first; then, unless `idle_only`, the others, and last of all
    /// those that leases or sessions hold. Returns how many there are to be now.
    std::size_t set_desired(std::size_t count, bool idle_only);

private:
    bool retire_one(bool idle_only);
    bool retire_unstarted();
    worker* most_dispensable(bool idle_only) const noexcept;
    void retire_slot(std::size_t index);

    roster& roster_;
};

} // namespace skep

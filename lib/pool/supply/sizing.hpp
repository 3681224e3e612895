// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/supply/roster.hpp"

namespace skep {

/// Grows or shrinks the set of wanted slots, and picks the workers to retire. On the pool's strand.
class sizing {
public:
    explicit sizing(roster& workers) : roster_(workers) {}

    /// Sets the number of wanted workers. Shrinks in this order: slots that wait for a start; then, unless
    /// `idle_only`, starting workers; then idle workers, the longest idle first; then, unless `idle_only`,
    /// the others, and last of all workers held by leases or sessions. Returns the number of wanted workers.
    std::size_t set_desired(std::size_t count, bool idle_only);

private:
    bool retire_one(bool idle_only);
    bool retire_unstarted();
    worker* most_dispensable(bool idle_only) const noexcept;
    void retire_slot(std::size_t index);

    roster& roster_;
};

} // namespace skep

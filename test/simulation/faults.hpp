// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep::simulation {

/// Allocations that fail: the Nth one that the library makes while they are armed. What the simulation itself
/// allocates is spared.
class allocation_faults {
public:
    /// The `nth` allocation from now on fails, if the library makes it before disarm().
    static void arm(std::uint64_t nth) noexcept;

    /// Returns whether one has failed.
    static bool disarm() noexcept;

    /// Whether it has.
    static bool has_failed() noexcept;

    /// Allocations of the sizes that `function` makes never fail. For what Asio allocates where it must not
    /// throw: it type-erases executors in functions that are noexcept.
    template <class Function>
    static void spare_sizes_in(Function&& function) {
        learn(true);
        function();
        learn(false);
    }

    /// The next allocations, so many, do not fail. For a strand, which Asio destroys half made if one of them
    /// does.
    static void spare_next(int count) noexcept;

private:
    static void learn(bool learns) noexcept;
};

/// While one is alive, allocations are the simulation's own.
class spared_by_faults {
public:
    spared_by_faults() noexcept;
    ~spared_by_faults();
    spared_by_faults(const spared_by_faults&) = delete;
    spared_by_faults& operator=(const spared_by_faults&) = delete;
};

} // namespace skep::simulation

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>

namespace skep::bench {

/// What this process has allocated. Counted at malloc, beneath operator new: Asio takes coroutine frames from
/// aligned_alloc, and what libraries take in C counts too.
struct allocation_totals {
    std::uint64_t count; ///< allocations so far
    std::uint64_t bytes; ///< asked for by them
    std::int64_t live;   ///< usable bytes not given back
};
allocation_totals allocations() noexcept;

} // namespace skep::bench

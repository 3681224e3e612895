// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/span_id.hpp"

#include <algorithm>
#include <atomic>
#include <random>

namespace skep {

namespace {

std::uint64_t first_state() {
    std::random_device source;
    return (std::uint64_t(source()) << 32) ^ source();
}

} // namespace

/// The generator splitmix64: each step is a permutation of all numbers.
std::uint64_t make_span_id() {
    static std::atomic<std::uint64_t> state{first_state()};
    auto bits = state.fetch_add(0x9E3779B97F4A7C15, std::memory_order_relaxed);
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return std::max<std::uint64_t>(bits ^ (bits >> 31), 1);
}

} // namespace skep

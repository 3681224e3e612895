// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace skep::simulation {

/// An event of a world. In a std::priority_queue the earliest is on top; among events of the same time, the
/// one with the lowest number.
struct timed_event {
    time_point moment;
    std::uint64_t number;
    std::function<void()> what;

    friend bool operator<(const timed_event& a, const timed_event& b) noexcept {
        return std::pair(a.moment, a.number) > std::pair(b.moment, b.number);
    }
};

} // namespace skep::simulation

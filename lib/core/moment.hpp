// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>

namespace skep {

/// One moment by both clocks: the one that decides, and the one for people.
struct moment {
    time_point now;
    std::chrono::system_clock::time_point wall;
};

} // namespace skep

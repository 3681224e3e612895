// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>

namespace skep::test {

/// When tests of decisions begin; any time would do.
inline constexpr time_point start{std::chrono::seconds(5000)};

} // namespace skep::test

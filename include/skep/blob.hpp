// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <vector>

namespace skep {

/// Raw bytes that travel beside a call's JSON, unencoded.
using blob = std::vector<std::byte>;

} // namespace skep

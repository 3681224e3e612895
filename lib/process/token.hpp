// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

/// Returns 128 random bits from the kernel, in hexadecimal.
std::string make_token();

} // namespace skep

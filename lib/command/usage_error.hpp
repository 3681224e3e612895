// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <stdexcept>

namespace skep {

/// A mistake in the command line: the program explains the usage, and exits with 2.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace skep

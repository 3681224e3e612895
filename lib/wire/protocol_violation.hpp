// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <stdexcept>

namespace skep {

/// The peer broke the wire protocol. The text names the rule, and never contains the peer's data.
class protocol_violation : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace skep

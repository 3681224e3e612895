// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/redis_sessions.hpp>

namespace skep {

/// Throws error(errc::invalid_config) with field, value and rule, but never with the password.
void check(const redis_options& options);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/otlp.hpp>

namespace skep {

/// Returns the options if all are valid; throws error(invalid_config) with all violations.
otlp_options checked(otlp_options options);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/range_check.hpp"
#include <skep/nats_options.hpp>

namespace skep {

/// Adds the violated rules that are no ranges, without secrets. `range`: at the place of the options.
void check_nats_rules(const nats_options& options, const range_check& range);

} // namespace skep

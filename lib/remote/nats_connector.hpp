// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/hub_driver.hpp"
#include <skep/export.hpp>
#include <skep/nats_options.hpp>

namespace skep {

/// Returns a function that connects to the servers of `options`, which keep their rules.
/// Throws error(errc::invalid_config) if the cnats of this build lacks something that the options need.
SKEP_API bus_factory connect_by_nats(const nats_options& options);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/launch_options.hpp>

#include <cstdint>

namespace skep {

/// Returns the launch options of the worker in `slot`: the common options, merged with the options of the
/// slot.
launch_options for_slot(launch_options common, std::uint32_t slot);

} // namespace skep

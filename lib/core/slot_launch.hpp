// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/launch_options.hpp>

#include <cstdint>

namespace skep {

/// What the worker in `slot` is started with: what is the slot's own has become part of what is everybody's.
launch_options for_slot(launch_options common, std::uint32_t slot);

} // namespace skep

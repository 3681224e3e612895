// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include <skep/pool_config.hpp>

#include <memory>

namespace skep {

/// Returns a runtime that starts workers as processes on this machine. `sink` receives their output and must
/// not throw.
std::unique_ptr<runtime> make_process_runtime(const pool_context& context, const pool_config& config,
                                              output_handler sink, launch_fault fault = {});

} // namespace skep

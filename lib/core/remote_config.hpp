// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_problems.hpp"
#include <skep/node_options.hpp>
#include <skep/remote_options.hpp>

#include <string>

namespace skep {

/// Returns the name of a remote pool in errors, events and metrics, and in a pool_manager.
inline const std::string& name_of(const remote_options& options) noexcept {
    return options.name.empty() ? options.pool : options.name;
}

// All add the violated rules, of single fields and between fields.
void check(const nats_options& options, config_problems& problems);
void check(const remote_options& options, config_problems& problems);
void check(const node_options& options, config_problems& problems);

} // namespace skep

// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/host_state.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace skep {

/// Returns the variables of this process that children may inherit. Excludes skep's own variables, and the
/// variables by which systemd watches a service and passes sockets.
variables inherited_environment();

/// Returns a worker's environment as "NAME=value" strings: the host's environment, overridden by the user's
/// variables for the worker, then by `protocol`. The library adds its defaults: `threads` threads for each
/// numeric library unless the host or the user sets the variable, and the Python SDK at the front of
/// PYTHONPATH.
std::vector<std::string> worker_environment(const launch_options& launch, std::size_t threads,
                                            const variables& protocol, const host_state& host);

/// Returns the arguments of `env` for a worker behind a prefix, local or remote: `protocol`, the limits of
/// threads, and the user's variables.
std::vector<std::string> forwarded_environment(const launch_options& launch, std::size_t threads,
                                               const variables& protocol);

/// Returns the program to start on this machine: the first word of the prefix, or the worker's program if
/// there is no prefix.
const std::string& started_program(const launch_options& launch) noexcept;

/// Returns the absolute path of the started program, with its symbolic links unresolved: the link identifies
/// the interpreter of a virtual environment. Relative paths and PATH are taken from `host`. Throws
/// error(spawn_failed) with the searched places.
std::string find_program(const launch_options& launch, const host_state& host);

/// Returns the absolute start directory of a worker. Empty if the worker inherits the host's directory and
/// that directory was deleted.
std::string starting_directory(const launch_options& launch, const host_state& host);

} // namespace skep

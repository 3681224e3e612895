// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/host_state.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace skep {

/// The variables of this process that its children may have: without those that speak to this process alone, which are
/// skep's own and those by which systemd watches a service and hands it sockets.
variables inherited_environment();

/// The environment of a worker as "NAME=value" strings: the host's, then the library's defaults (one thread for each
/// numeric library, the Python SDK on PYTHONPATH), then the user's own for the worker, then `protocol`.
std::vector<std::string> worker_environment(const launch_options& launch, std::size_t threads,
                                            const variables& protocol, const host_state& host);

/// The words for `env` that give a worker, wherever it is, the part of it that is to reach it: `protocol`, the limits of
/// threads, and the user's own.
std::vector<std::string> forwarded_environment(const launch_options& launch, std::size_t threads,
                                               const variables& protocol);

/// What is started here: the first word of the prefix, or else the program.
const std::string& started_program(const launch_options& launch) noexcept;

/// Its absolute path, with its symbolic links: of a virtual environment's interpreter, the link tells which it is. Relative
/// paths, and PATH, are those of `host`. Throws error(spawn_failed) saying where it was looked for.
std::string find_program(const launch_options& launch, const host_state& host);

/// The directory that a worker starts in, absolute; empty if it is the host's, which was deleted.
std::string starting_directory(const launch_options& launch, const host_state& host);

} // namespace skep
